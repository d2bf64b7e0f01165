#include "emulator/numeric/decode_float.h"

#include <array>
#include <bit>
#include <cstring>

#include "emulator/numeric/convert.h"

namespace tma_jit::emulator::numeric {
namespace {

using Table = std::array<float, 256>;

Table make_table(Format format) {
  Table table{};
  for (u32 pattern = 0; pattern < 256; ++pattern)
    table[pattern] = static_cast<float>(value_of(format, pattern & ((1U << bits_of(format)) - 1)));
  return table;
}

void decode_f16(const u16* source, float* target, int count) {
  for (int i = 0; i < count; ++i) {
    const u32 sign = (static_cast<u32>(source[i]) & 0x8000U) << 16;
    const u32 magnitude = static_cast<u32>(source[i]) & 0x7fffU;
    // Scaling by 2^112 turns the exponent's bias from 15 to 127 and normalises subnormals.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
    const u32 special = 0x7f800000U | (magnitude << 13);
    target[i] = std::bit_cast<float>(sign | (magnitude >= 0x7c00U ? special : std::bit_cast<u32>(scaled)));
  }
}

}  // namespace

const float* decode_table(Format format) {
  static const std::array<Table, 7> tables_of_formats = [] {
    std::array<Table, 7> tables{};
    for (std::size_t i = 0; i < tables.size(); ++i)
      tables[i] = make_table(static_cast<Format>(static_cast<std::size_t>(Format::e2m1) + i));
    return tables;
  }();
  return tables_of_formats[static_cast<std::size_t>(format) - static_cast<std::size_t>(Format::e2m1)].data();
}

void decode_f32(Format format, const void* source, float* target, int count) {
  const auto* halves = static_cast<const u16*>(source);
  const auto* words = static_cast<const u32*>(source);
  switch (format) {
    case Format::bf16:
      for (int i = 0; i < count; ++i) target[i] = std::bit_cast<float>(static_cast<u32>(halves[i]) << 16);
      return;
    case Format::f16: return decode_f16(halves, target, count);
    case Format::tf32:
      for (int i = 0; i < count; ++i) target[i] = std::bit_cast<float>(words[i] & 0xffffe000U);
      return;
    case Format::f32: std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(float)); return;
    default: {
      const float* table = decode_table(format);
      const auto* bytes = static_cast<const u8*>(source);
      for (int i = 0; i < count; ++i) target[i] = table[bytes[i]];
    }
  }
}

void decode_s32(Format format, const void* source, s32* target, int count) {
  const auto* bytes = static_cast<const u8*>(source);
  const int unused = 32 - bits_of(format);
  const u32 sign = is_signed(format) ? 1U << 31 >> unused : 0;
  // Two's complement: the value is x - 2 * sign.
  for (int i = 0; i < count; ++i) target[i] = static_cast<s32>((bytes[i] ^ sign) - sign);
}

}  // namespace tma_jit::emulator::numeric

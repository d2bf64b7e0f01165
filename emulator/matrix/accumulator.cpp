#include "emulator/matrix/accumulator.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "emulator/numeric/convert.h"
#include "emulator/numeric/decode_float.h"
#include "emulator/numeric/multiply.h"

namespace tma_jit::emulator::matrix {
namespace {

using numeric::Format;

u16 rounded_f16(float value) {
  u32 bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto rounded = static_cast<u16>(numeric::convert({.from = Format::f32, .to = Format::f16}, bits));
  return rounded == 0x8000 ? u16{0} : rounded;  // a zero sum is +0
}

void load_f16(const AccumulatorBlock& block, float* sums, std::size_t stride) {
  float values[2 * kLanes];
  numeric::decode_f32(Format::f16, block.source[0], values, 2 * kLanes);
  for (std::size_t row = 0; row < 8; ++row) std::memcpy(sums + row * stride, values + 8 * row, 8 * sizeof(float));
}

void store_f16(const AccumulatorBlock& block, const float* sums, u32 stride) {
  u16 target[2 * kLanes];
  for (u32 row = 0; row < 8; ++row)
    for (u32 column = 0; column < 8; ++column) target[8 * row + column] = rounded_f16(sums[row * stride + column]);
  std::memcpy(block.target[0], target, sizeof target);
}

s32 wrapped_or_clamped(s64 value, bool saturate) {
  using Limits = std::numeric_limits<s32>;
  if (saturate) value = std::clamp<s64>(value, Limits::min(), Limits::max());
  return static_cast<s32>(static_cast<u32>(static_cast<u64>(value)));
}

}  // namespace

void load(const AccumulatorBlock& block, float* sums, u32 stride) {
  if (block.source == nullptr) {
    for (std::size_t row = 0; row < 8; ++row) std::fill_n(sums + row * stride, 8, 0.0F);
  } else if (block.format == Format::f16) {
    load_f16(block, sums, stride);
  } else {
    numeric::kernels().load_block({sums, stride, reinterpret_cast<const float*>(block.source[0]),
                                   reinterpret_cast<const float*>(block.source[1])});
  }
}

void store(const AccumulatorBlock& block, const float* sums, u32 stride) {
  if (block.format == Format::f16) return store_f16(block, sums, stride);
  numeric::kernels().store_block(
      {sums, stride, reinterpret_cast<float*>(block.target[0]), reinterpret_cast<float*>(block.target[1])});
}

void round_to(Format format, float* values, u32 count) {
  if (format != Format::f16) return;
  for (u32 i = 0; i < count; ++i) {
    const u16 bits = rounded_f16(values[i]);
    numeric::decode_f32(Format::f16, &bits, values + i, 1);
  }
}

void accumulate(const AccumulatorBlock& block, const s32* sums, u32 stride) {
  for (u32 parity = 0; parity < 2; ++parity) {
    s32 lanes[kLanes] = {};
    if (block.source != nullptr) std::memcpy(lanes, block.source[parity], sizeof lanes);
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const s64 sum = s64{sums[lane / 4 * stride + lane % 4 * 2 + parity]} + lanes[lane];
      lanes[lane] = wrapped_or_clamped(sum, block.saturate);
    }
    std::memcpy(block.target[parity], lanes, sizeof lanes);
  }
}

}  // namespace tma_jit::emulator::matrix

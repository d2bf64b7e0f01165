// Operands of tcgen05.mma in shared and tensor memory, laid out by the PTX ISA's figures.
#pragma once

#include <cmath>
#include <optional>

#include "emulator/matrix/tcgen05_mma.h"
#include "emulator/matrix_samples.h"

namespace tma_jit::testing::tensor_core {

namespace numeric = emulator::numeric;
using emulator::matrix::Major;
using emulator::matrix::MmaKind;

constexpr u32 kSharedBytes = 192 * 1024;
constexpr u32 kPoison = 0x7fc0dead;

struct Cta {
  std::vector<u8> shared = std::vector<u8>(kSharedBytes, 0xcb);
  std::vector<u32> tensor = std::vector<u32>(std::size_t{128} * 512, kPoison);
  u32& word(u32 lane, u32 column) { return tensor[std::size_t{lane} * 512 + column]; }
};

struct Kind {
  MmaKind kind;
  Format a, b, d;
  u32 k;
  u32 scale_vector = 0;
  Format scale = Format::ue8m0;
};

struct Layout {
  Major major = Major::k;
  u32 span = 128;
  u32 atom = 16;
};

struct Case {
  Kind kind;
  u32 m = 128, n = 64, group = 1;
  bool stationary = false, a_in_tensor = false;
  Layout a, b;
  u32 lane = 0;  // of D and A
  bool negate_a = false, negate_b = false;
  u32 scale_input = 0;
  std::optional<u64> zero_columns = std::nullopt;
  u32 shift = 0;  // columns of B by which the mask shifts
  u32 a_id = 0, b_id = 0;
};

inline u32 code_of(MmaKind kind, Format format) {
  switch (format) {
    case Format::f16:
    case Format::u8:
    case Format::e4m3: return 0;
    case Format::bf16:
    case Format::s8:
    case Format::e5m2: return 1;
    case Format::tf32: return 2;
    case Format::e2m3: return 3;
    case Format::e3m2: return 4;
    default: return kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4 ? 1 : 5;
  }
}

inline u32 instruction_of(const Case& c) {
  const bool scaled = c.kind.scale_vector != 0;
  u32 bits =
      code_of(c.kind.kind, c.kind.a) << 7 | code_of(c.kind.kind, c.kind.b) << 10 | c.n / 8 << 17 | c.m / 16 << 24;
  bits |= (c.negate_a ? 1U << 13 : 0) | (c.negate_b ? 1U << 14 : 0);
  bits |= (c.a.major == Major::mn ? 1U << 15 : 0) | (c.b.major == Major::mn ? 1U << 16 : 0);
  if (scaled) return bits | (c.kind.scale == Format::ue8m0 ? 1U << 23 : 0) | c.a_id << 29 | c.b_id << 4;
  if (c.shift != 0) bits |= (c.shift > 16 ? 3U : c.shift > 8 ? 2U : 1U) << 30;
  return bits | (c.kind.d == Format::f32 ? 1U << 4 : c.kind.d == Format::s32 ? 2U << 4 : 0);
}

inline u64 descriptor_of(u32 start, u32 leading, u32 stride, Layout layout) {
  const u64 mode = layout.atom == 32 ? 1 : layout.span == 128 ? 2 : layout.span == 64 ? 4 : layout.span == 32 ? 6 : 0;
  return u64{start >> 4} | u64{leading >> 4} << 16 | u64{stride >> 4} << 32 | u64{1} << 46 | mode << 61;
}

// Bits of an element in shared memory, and the bit offset of element i of a row: 16 elements of a small format of the
// f8f6f4 kinds are packed at the front of 16 bytes.
inline u32 bit_in_row(MmaKind kind, Format format, u32 i) {
  const auto bits = static_cast<u32>(numeric::bits_of(format));
  const bool packed = kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4;
  return bits < 8 && !packed ? i / 16 * 128 + i % 16 * bits : i * bits;
}

inline u64 place(const Case& c, const Values& rows, Format format, Layout layout, u32 start, Cta& cta) {
  const bool k_major = layout.major == Major::k;
  const u32 lines = k_major ? rows.rows : rows.columns;
  const u32 group = layout.atom == 32 && !k_major ? 4 : 8;
  const u32 tile = group * layout.span;
  const u32 groups = (lines + group - 1) / group;
  for (u32 row = 0; row < rows.rows; ++row)
    for (u32 k = 0; k < rows.columns; ++k) {
      const u32 line = k_major ? row : k;
      const u32 bit = bit_in_row(c.kind.kind, format, k_major ? k : row);
      const u32 byte = bit / 8;
      const u32 address =
          start + (byte / layout.span * groups + line / group) * tile + line % group * layout.span + byte % layout.span;
      put_bits(cta.shared.data(), u64{swizzled_byte(address, layout.span, layout.atom)} * 8 + bit % 8,
               numeric::bits_of(format), pattern(format, rows.at(row, k)));
    }
  const u32 next_span = groups * tile;
  if (!k_major && layout.span == 16) return descriptor_of(start, tile, next_span, layout);
  return descriptor_of(start, next_span, tile, layout);
}

// The data path layouts by their figures: returns CTA, lane and column of an element of D.
struct Where {
  u32 cta, lane, column;
};
inline Where where(const Case& c, u32 row, u32 column) {
  if (c.group == 2 && c.m == 256) return {row / 128, row % 128, column};                              // A
  if (c.group == 2) return {row / 64, row % 64 + (column >= c.n / 2 ? 64 : 0), column % (c.n / 2)};   // B
  if (c.m == 128) return {0, row, column};                                                            // D
  if (c.m == 64 && c.stationary) return {0, row + (column >= c.n / 2 ? 64 : 0), column % (c.n / 2)};  // E
  if (c.m == 64) return {0, row / 16 * 32 + row % 16, column};                                        // F
  return {0, row + column / (c.n / 4) * 32, column % (c.n / 4)};                                      // G
}

inline void put_tensor_a(const Case& c, const Values& a, std::vector<Cta>& ctas, u32 column) {
  const auto bits = static_cast<u32>(numeric::bits_of(c.kind.a));
  const bool packed = c.kind.kind == MmaKind::mxf4 || c.kind.kind == MmaKind::mxf4nvf4;
  const u32 width = bits < 8 && !packed ? 8 : bits;
  const u32 shift = c.kind.a == Format::e2m1 && !packed ? 2 : 0;
  for (u32 row = 0; row < c.m; ++row)
    for (u32 n = 0; n < c.n; ++n) {  // every lane that computes a part of the row has a copy
      const Where at = where(c, row, n);
      for (u32 k = 0; k < c.kind.k; ++k) {
        u32& word = ctas[at.cta].word(at.lane + c.lane, column + k * width / 32);
        put_bits(reinterpret_cast<u8*>(&word), k * width % 32, static_cast<int>(width),
                 pattern(c.kind.a, a.at(row, k)) << shift);
      }
    }
}

struct Scales {
  Values a, b;  // as rows and columns by scaled blocks
};

// Writes 32 rows to 32 lanes, the next 32 to the next column, and repeats the whole four times.
inline void put_scales(const Case& c, const Values& scales, u32 first, u32 count, u32 column, u32 id, Cta& cta) {
  for (u32 row = 0; row < count; ++row)
    for (u32 copy = 0; copy < 4; ++copy)
      for (u32 block = 0; block < c.kind.scale_vector; ++block)
        put_bits(reinterpret_cast<u8*>(&cta.word(copy * 32 + row % 32, column + row / 32)), 8 * (id + block), 8,
                 numeric::nearest(c.kind.scale, scales.at(first + row, block)));
}

inline Values powers(u32 rows, u32 columns, std::mt19937& random) {
  Values values(rows, columns);
  for (double& value : values.data) value = std::exp2(static_cast<int>(random() % 5) - 2);
  return values;
}

inline double read_d(const Case& c, std::vector<Cta>& ctas, u32 row, u32 n, u32 column) {
  const Where at = where(c, row, n);
  const u32 word = ctas[at.cta].word(at.lane + c.lane, column + at.column);
  if (c.kind.d == Format::f16) CHECK((word >> 16) == 0);
  return numeric::value_of(c.kind.d, word);
}

inline constexpr Kind kBf16 = {MmaKind::f16, Format::bf16, Format::bf16, Format::f32, 16};

}  // namespace tma_jit::testing::tensor_core

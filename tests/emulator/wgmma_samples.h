// Operands of wgmma in shared memory and registers, laid out by the PTX ISA's figures.
#pragma once

#include "emulator/matrix/wgmma.h"
#include "emulator/matrix_samples.h"

namespace tma_jit::testing::wgmma_samples {

namespace numeric = emulator::numeric;
using emulator::matrix::Major;
using emulator::matrix::Wgmma;

struct Layout {
  Major major;
  u32 span;  // in bytes, of the swizzle; 16 for none
};

constexpr u64 descriptor_of(u32 start, u32 leading, u32 stride, u32 span) {
  const u64 mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
  return u64{start >> 4} | u64{leading >> 4} << 16 | u64{stride >> 4} << 32 | mode << 62;
}

// Writes `values` at `start` as consecutive tiles and returns the descriptor. Along K, a tile is 8 rows of a span each;
// along M or N, 8 values of k.
inline u64 place(const Values& values, Format format, Layout layout, u32 start, std::vector<u8>& shared) {
  const auto bits = static_cast<u32>(numeric::bits_of(format));
  const u32 tile = 8 * layout.span;
  const u32 per_span = layout.span * 8 / bits;  // elements
  const bool k_major = layout.major == Major::k;
  const u32 groups = (k_major ? values.rows : values.columns) / 8;
  for (u32 row = 0; row < values.rows; ++row) {
    for (u32 k = 0; k < values.columns; ++k) {
      const u32 line = k_major ? row : k;
      const u32 along = k_major ? k : row;
      const u32 address =
          start + (along / per_span * groups + line / 8) * tile + line % 8 * layout.span + along % per_span * bits / 8;
      put_bits(shared.data(), u64{swizzled_byte(address, layout.span, 16)} * 8, static_cast<int>(bits),
               pattern(format, values.at(row, k)));
    }
  }
  const u32 next_span = groups * tile;
  // Without a swizzle, MN-major operands exchange the two offsets.
  if (!k_major && layout.span == 16) return descriptor_of(start, tile, next_span, layout.span);
  return descriptor_of(start, next_span, tile, layout.span);
}

inline Values transposed(const Values& values) {
  Values out(values.columns, values.rows);
  for (u32 i = 0; i < values.rows; ++i)
    for (u32 j = 0; j < values.columns; ++j) out.at(j, i) = values.at(i, j);
  return out;
}

// The fragment of D by its figure: element i of thread t of the warpgroup.
struct RegisterRef {
  u32 row, column;
};
inline RegisterRef d_place(u32 thread, u32 i) {
  const u32 warp = thread / 32;
  const u32 lane = thread % 32;
  return {warp * 16 + lane / 4 + (i / 2 % 2) * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}

inline u32 wrong_elements(const Wgmma& instruction, const Bank& d, const Values& expected) {
  const u32 per_warp = accumulator_registers(instruction);
  u32 wrong = 0;
  for (u32 thread = 0; thread < 128; ++thread) {
    for (u32 i = 0; i < instruction.n / 2; ++i) {
      const RegisterRef at = d_place(thread, i);
      double value = 0;
      if (instruction.accumulator == Format::f16) {
        const u64 word = d.word(thread / 32 * per_warp + i / 2, thread % 32);
        value = numeric::value_of(Format::f16, (word >> (16 * (i % 2))) & 0xffff);
      } else {
        value = numeric::value_of(instruction.accumulator, d.word(thread / 32 * per_warp + i, thread % 32));
      }
      if (value != expected.at(at.row, at.column)) ++wrong;
    }
  }
  return wrong;
}

// A in registers: register i of thread t is at [t / 32 * 4 + i], lane t % 32.
inline Bank fragment_of(Format format, const Values& a) {
  Bank fragment(16);
  const u32 bits = static_cast<u32>(numeric::bits_of(format));
  const u32 each = 32 / bits;
  for (u32 thread = 0; thread < 128; ++thread)
    for (u32 i = 0; i < 4 * each; ++i) {  // element i of the thread in the figure
      const u32 lane = thread % 32;
      const u32 row = thread / 32 * 16 + lane / 4 + (i / each % 2) * 8;
      const u32 k = lane % 4 * each + i % each + i / (2 * each) * 4 * each;
      fragment.put(thread / 32 * 4 + i / each, lane, i % each * bits, static_cast<int>(bits),
                   pattern(format, a.at(row, k)));
    }
  return fragment;
}

}  // namespace tma_jit::testing::wgmma_samples

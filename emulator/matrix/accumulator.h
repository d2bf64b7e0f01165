// Accumulators in registers, in blocks of 8 rows by 8 columns, as m16n8 and wgmma distribute them over the lanes of a
// warp. PTX ISA 9.0, figures of the fragments of C and D.
#pragma once

#include "emulator/matrix/registers.h"
#include "emulator/numeric/format.h"

namespace tma_jit::emulator::matrix {

// The registers of a block of 8 by 8 sums. f32 and s32 take two registers, for even and odd columns; f16 one with a
// pair of columns; f64 two of 8 bytes.
struct AccumulatorBlock {
  numeric::Format format = numeric::Format::f32;
  u8* const* target = nullptr;        // registers of D
  const u8* const* source = nullptr;  // registers of C; null for zero
  bool saturate = false;              // s32: clamp instead of wrapping
};

// Loads C, or zeros, as 8 rows of 8, `stride` elements apart.
void load(const AccumulatorBlock& block, float* sums, u32 stride);
// Stores D = sums, rounded to the accumulator's format.
void store(const AccumulatorBlock& block, const float* sums, u32 stride);
// Stores D = sums + C.
void accumulate(const AccumulatorBlock& block, const s32* sums, u32 stride);
// Rounds the values to the accumulator's format.
void round_to(numeric::Format format, float* values, u32 count);

// Registers of a block of 8 by 8: 1 for f16, otherwise 2.
inline u32 registers_of_block(numeric::Format format) {
  return format == numeric::Format::f16 ? 1 : 2;
}

}  // namespace tma_jit::emulator::matrix

// Accumulators in registers: 8 rows by 8 columns at a time, as m16n8 and wgmma spread them over the lanes of a warp.
// PTX ISA 9.0, figures of the fragments of C and D.
#pragma once

#include "emulator/numeric/format.h"
#include "emulator/numeric/registers.h"

namespace tma_jit::emulator::matrix {

// Where a block of 8 by 8 sums goes to. With f32 and s32, two registers: even and odd columns. With f16, one that holds
// a pair. With f64, two of 8 bytes.
struct AccumulatorBlock {
  number::Format format = number::Format::f32;
  u8* const* target = nullptr;        // registers of D
  const u8* const* source = nullptr;  // registers of C; null for zero
  bool saturate = false;              // s32: clamp instead of wrapping
};

// C, or zeros, as 8 rows of 8, `stride` apart.
void load(const AccumulatorBlock& block, float* sums, u32 stride);
// D = sums, rounded to the accumulator's format.
void store(const AccumulatorBlock& block, const float* sums, u32 stride);
// D = sums + C.
void accumulate(const AccumulatorBlock& block, const s32* sums, u32 stride);
// The values as an accumulator of this format would hold them.
void round_to(number::Format format, float* values, u32 count);

// Registers that a block of 8 by 8 takes: 1 with f16, else 2.
inline u32 registers_of_block(number::Format format) {
  return format == number::Format::f16 ? 1 : 2;
}

}  // namespace tma_jit::emulator::matrix

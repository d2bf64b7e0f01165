// wgmma.mma_async: D[64][N] = A[64][K] * B[K][N] (+ D), by the four warps of a warpgroup. PTX ISA 9.0, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Operations".
//
// Precision: bit-identical to a device (tensor_sum.h).
#pragma once

#include <vector>

#include "emulator/byte_range.h"
#include "emulator/matrix/operand.h"

namespace tma_jit::emulator::matrix {

struct Wgmma {
  u32 n = 0;  // columns
  numeric::Format a_format = numeric::Format::bf16;
  numeric::Format b_format = numeric::Format::bf16;
  numeric::Format accumulator = numeric::Format::f32;  // f32, f16 or s32
  bool a_in_registers = false;
  u64 a_descriptor = 0;
  u64 b_descriptor = 0;
  Major a_major = Major::k;
  Major b_major = Major::k;
  bool negate_a = false;
  bool negate_b = false;
  bool accumulate = true;  // scale-d
  bool saturate = false;   // .satfinite of s32
};

// Elements of K per instruction: 32 bytes.
u32 depth_of(const Wgmma& instruction);
// Registers of D per thread.
u32 accumulator_registers(const Wgmma& instruction);

// Append the ranges that the instruction reads of the block's `size` bytes of shared memory: those common to all four
// warps, and the 16 rows of A of warp 0 to 3. An MN-major A is assumed to be read by all warps.
void append_common_footprint(const Wgmma& instruction, u32 size, std::vector<ByteRange>& spans);
void append_own_footprint(const Wgmma& instruction, u32 warp, u32 size, std::vector<ByteRange>& spans);

// Registers are ordered by warp. `a` has 4 per warp, or is empty; `d` has accumulator_registers() per warp.
void execute(const Wgmma& instruction, const u8* shared, Registers a, Registers d);

}  // namespace tma_jit::emulator::matrix

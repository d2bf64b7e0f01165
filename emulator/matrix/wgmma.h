// wgmma.mma_async: D[64][N] = A[64][K] * B[K][N] (+ D), by the four warps of a warpgroup. PTX ISA 9.0, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Operations".
//
// Precision: bit for bit a device's (tensor_sum.h).
#pragma once

#include <vector>

#include "emulator/matrix/operand.h"

namespace tma_jit::emulator::matrix {

struct Wgmma {
  u32 n = 0;  // columns
  number::Format a_format = number::Format::bf16;
  number::Format b_format = number::Format::bf16;
  number::Format accumulator = number::Format::f32;  // f32, f16 or s32
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

// Elements of K that one instruction multiplies: 32 bytes of them.
u32 depth_of(const Wgmma& instruction);
// Registers of D in each thread.
u32 accumulator_registers(const Wgmma& instruction);

// Appends what it reads of the block's `size` bytes of shared memory: what all four warps do, and what warp 0 to 3 does
// for itself, its 16 rows of A. An A along M is taken to be read by all.
void append_common_footprint(const Wgmma& instruction, u32 size, std::vector<Span>& spans);
void append_own_footprint(const Wgmma& instruction, u32 warp, u32 size, std::vector<Span>& spans);

// `a` has 4 registers a warp, or is empty; `d` accumulator_registers() a warp; warp after warp.
void execute(const Wgmma& instruction, const u8* shared, Registers a, Registers d);

}  // namespace tma_jit::emulator::matrix

// mma.sync: D[M][N] = A[M][K] * B[K][N] + C by one warp, every operand in registers; with block scaling too. PTX
// ISA 9.0, "Matrix multiply-accumulate operation using mma instruction". The fragment of every shape but f16's m8n8k4
// follows one rule: a register of A or B holds 8 rows, lane 4 * row + i the i-th group of as many elements of K as fit
// into it.
//
// Precision: bit for bit a Hopper device's where there is no block scaling (tensor_sum.h); f64 in f64. The products of
// a scaled block are summed so too, scaled in f64 and added in f32, block after block.
#pragma once

#include "emulator/numeric/format.h"
#include "emulator/numeric/registers.h"

namespace tma_jit::emulator::matrix {

struct MmaSync {
  enum class Bits : u8 { none, and_count, xor_count };  // of b1: how bits combine before they are counted
  u32 m = 16;
  u32 n = 8;
  u32 k = 16;
  number::Format a_format = number::Format::bf16;
  number::Format b_format = number::Format::bf16;
  number::Format c_format = number::Format::f32;
  number::Format d_format = number::Format::f32;
  bool packed = false;    // 4-bit elements eight to a register (mxf4, mxf4nvf4, u4, s4), not in bytes
  bool saturate = false;  // .satfinite of s32
  // 8-bit floats have no unit of their own: ptxas widens them to f16, multiplies the lower two of each four elements of
  // K first, then the upper two onto them, and adds C last (seen in what it makes for sm_90a and sm_100a).
  bool widened = false;
  Bits bits = Bits::none;
  // Block scaling: scale factors a row of A and a column of B, 1, 2 or 4, or 0 for none. Of each quad of lanes, A's two
  // rows come from lanes 2 * a_thread and 2 * a_thread + 1, B's column from lane b_thread; bytes count from a_byte,
  // b_byte.
  u32 scales = 0;
  number::Format scale_format = number::Format::ue8m0;
  u32 a_byte = 0;
  u32 a_thread = 0;
  u32 b_byte = 0;
  u32 b_thread = 0;
};

struct MmaRegisters {
  Registers d, a, b, c;
  const u8* a_scales = nullptr;  // 32 lanes of 4 bytes
  const u8* b_scales = nullptr;
};

// Registers of each operand; the caller's spans must have as many.
struct MmaCounts {
  u32 d, a, b, c;
};
MmaCounts counts_of(const MmaSync& instruction);

// `registers.d` may be `registers.c`.
void execute(const MmaSync& instruction, const MmaRegisters& registers);

}  // namespace tma_jit::emulator::matrix

// mma.sync: D[M][N] = A[M][K] * B[K][N] + C by one warp, with all operands in registers; optionally block scaled. PTX
// ISA 9.0, "Matrix multiply-accumulate operation using mma instruction". The fragments of all shapes but m8n8k4 of f16
// follow one rule: a register of A or B holds 8 rows; lane 4 * row + i holds the i-th group of as many elements of K as
// fit into it.
//
// Precision: bit-identical to a Hopper device without block scaling (tensor_sum.h); f64 in f64. The products of a
// scaled block are summed in the same way, scaled in f64 and added in f32, block after block.
#pragma once

#include "emulator/matrix/registers.h"
#include "emulator/numeric/format.h"

namespace tma_jit::emulator::matrix {

struct MmaSync {
  enum class Bits : u8 { none, and_count, xor_count };  // b1: how bits combine before they are counted
  u32 m = 16;
  u32 n = 8;
  u32 k = 16;
  numeric::Format a_format = numeric::Format::bf16;
  numeric::Format b_format = numeric::Format::bf16;
  numeric::Format c_format = numeric::Format::f32;
  numeric::Format d_format = numeric::Format::f32;
  bool packed = false;    // 4-bit elements are packed eight to a register (mxf4, mxf4nvf4, u4, s4), not one to a byte
  bool saturate = false;  // .satfinite of s32
  // The hardware has no multiplication of 8-bit floats in mma.sync: ptxas widens them to f16, multiplies the lower two
  // of each four elements of K first, accumulates the upper two, and adds C last (observed in its code for sm_90a and
  // sm_100a).
  bool widened = false;
  Bits bits = Bits::none;
  // Block scaling: scale factors per row of A and column of B, 1, 2 or 4, or 0 for none. In each quad of lanes, the
  // factors of A's two rows are in lanes 2 * a_thread and 2 * a_thread + 1, those of B's column in lane b_thread, from
  // byte a_byte or b_byte on.
  u32 scales = 0;
  numeric::Format scale_format = numeric::Format::ue8m0;
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

// The number of registers of each operand, which the caller's spans must have.
struct MmaCounts {
  u32 d, a, b, c;
};
MmaCounts counts_of(const MmaSync& instruction);

// `registers.d` may equal `registers.c`.
void execute(const MmaSync& instruction, const MmaRegisters& registers);

}  // namespace tma_jit::emulator::matrix

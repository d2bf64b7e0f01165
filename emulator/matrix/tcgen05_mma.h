// tcgen05.mma: D[M][N] = A[M][K] * B[K][N] (+ D) with D in tensor memory, A in shared or tensor memory and B in shared
// memory, by one CTA or a pair. PTX ISA 9.0, "TensorCore 5th Generation Matrix Multiply and accumulate Operations".
//
// Precision: as in tensor_sum.h, which has not been verified on these devices. The products of a scaled block are
// summed in the same way, scaled in f64 and added in f32, block after block.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "emulator/byte_range.h"
#include "emulator/matrix/instruction_descriptor.h"
#include "emulator/matrix/tensor_memory_layout.h"

namespace tma_jit::emulator::matrix {

struct TensorMma {
  MmaForm form;
  u32 d = 0;  // address in tensor memory
  bool a_in_tensor = false;
  u64 a = 0;  // a descriptor, or an address in tensor memory
  u64 b = 0;
  u32 instruction = 0;
  bool accumulate = true;               // enable-input-d
  u32 scale_input = 0;                  // D is multiplied by 2^-scale_input
  std::array<u32, 8> disabled_lanes{};  // one bit per lane of D; the second four words are for the odd CTA
  std::optional<u64> zero_columns;      // .ws: the zero-column mask descriptor
  u32 a_scales = 0;                     // addresses in tensor memory
  u32 b_scales = 0;
};

// The memory that the instruction accesses, equal in each CTA of the group.
struct TensorMmaPlan {
  InstructionDescriptor instruction;
  std::vector<ByteRange> reads;       // of shared memory
  std::vector<Region> tensor_reads;   // A and scale factors; also D if it accumulates
  std::vector<Region> tensor_writes;  // D
};

// Decodes the operands and checks them against the `shared_size` bytes of a CTA's shared memory. Throws descriptor,
// bounds and tensor_memory faults.
TensorMmaPlan plan(const TensorMma& mma, u32 shared_size);

// The memory of one CTA of the group.
struct CtaMemory {
  const u8* shared = nullptr;
  u32* tensor = nullptr;
};

// `ctas` has form.cta_group entries, the even rank first.
void execute(const TensorMma& mma, const InstructionDescriptor& instruction, std::span<const CtaMemory> ctas);

}  // namespace tma_jit::emulator::matrix

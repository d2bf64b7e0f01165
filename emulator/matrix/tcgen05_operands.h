// The operands of one tcgen05.mma, decoded: what planning and executing it share.
#pragma once

#include "emulator/matrix/tcgen05_mma.h"

namespace tma_jit::emulator::matrix {

// A CTA's own rows of A and columns of B in shared memory.
Operand operand_a(const TensorMma& mma, const InstructionDescriptor& instruction);
Operand operand_b(const TensorMma& mma, const InstructionDescriptor& instruction);

// Columns of tensor memory that a row of A takes.
u32 words_of_row(MmaKind kind, const InstructionDescriptor& instruction);

// Kernels carry the id of the scale factor in the two upper bits of its address too; they are not part of the place.
inline u32 scale_address(u32 address) {
  return address & 0x3fffffff;
}

// The zero-column mask of .ws: the column of B that a column of the product reads, or nothing where it is zero.
// PTX ISA 9.0, "Zero-Column Mask Descriptor"; as its examples count, the use span is the number of columns used.
void check_zero_columns(u64 bits, const InstructionDescriptor& instruction);
std::optional<u32> source_column(u64 bits, const InstructionDescriptor& instruction, u32 column);
// Columns that a mask shifts by.
u32 column_shift(u64 bits);

}  // namespace tma_jit::emulator::matrix

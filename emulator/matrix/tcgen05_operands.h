// The decoded operands of a tcgen05.mma, for planning and execution.
#pragma once

#include "emulator/matrix/tcgen05_mma.h"

namespace tma_jit::emulator::matrix {

// A CTA's rows of A and columns of B in shared memory.
Operand operand_a(const TensorMma& mma, const InstructionDescriptor& instruction);
Operand operand_b(const TensorMma& mma, const InstructionDescriptor& instruction);

// Columns of tensor memory per row of A.
u32 words_of_row(MmaKind kind, const InstructionDescriptor& instruction);

// The two upper bits of a scale factor's address hold its id and are not part of the address.
inline u32 scale_address(u32 address) {
  return address & 0x3fffffff;
}

// The zero-column mask of .ws. source_column() returns the column of B for a column of the product, or nullopt if it is
// zero. PTX ISA 9.0, "Zero-Column Mask Descriptor"; following its examples, the use span is the number of columns used.
void check_zero_columns(u64 bits, const InstructionDescriptor& instruction);
std::optional<u32> source_column(u64 bits, const InstructionDescriptor& instruction, u32 column);
// Returns the number of columns by which a mask shifts.
u32 column_shift(u64 bits);

}  // namespace tma_jit::emulator::matrix

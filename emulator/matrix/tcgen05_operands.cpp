#include "emulator/matrix/tcgen05_operands.h"

#include <algorithm>

#include "emulator/fault.h"

namespace tma_jit::emulator::matrix {

Operand operand_a(const TensorMma& mma, const InstructionDescriptor& instruction) {
  return {decode_tcgen05(mma.a), instruction.a,
          instruction.a_major,   instruction.m / mma.form.cta_group,
          instruction.k,         !is_packed(mma.form.kind)};
}

Operand operand_b(const TensorMma& mma, const InstructionDescriptor& instruction) {
  const u32 columns = instruction.n / mma.form.cta_group + (mma.zero_columns ? column_shift(*mma.zero_columns) : 0);
  return {decode_tcgen05(mma.b), instruction.b, instruction.b_major, columns, instruction.k, !is_packed(mma.form.kind)};
}

u32 words_of_row(MmaKind kind, const InstructionDescriptor& instruction) {
  return instruction.k / elements_per_word(instruction.a, is_packed(kind));
}

u32 column_shift(u64 bits) {
  return static_cast<u32>((bits >> 56) & 63);
}

void check_zero_columns(u64 bits, const InstructionDescriptor& instruction) {
  constexpr u64 kReserved = (u64{7} << 36) | (u64{3} << 62);
  const u32 most = std::min(instruction.m == 32 ? 16U : 32U, instruction.max_shift);
  if ((bits & kReserved) != 0)
    throw_fault(FaultKind::descriptor, "the zero-column mask descriptor {:#018x} has reserved bits set", bits);
  if (column_shift(bits) > most) {
    throw_fault(FaultKind::descriptor,
                "the zero-column mask descriptor {:#018x} shifts by {} columns; the instruction descriptor and M "
                "allow {}",
                bits, column_shift(bits), most);
  }
}

std::optional<u32> source_column(u64 bits, const InstructionDescriptor& instruction, u32 column) {
  const bool has_mask = ((bits >> 39) & 1) != 0;
  const u32 width = instruction.n / (128 / instruction.m);
  const u32 mask = column / width;
  if (has_mask) {
    const bool zero_first = ((bits >> (32 + mask)) & 1) != 0;
    const auto zeros = static_cast<u32>((bits >> 40) & 255) + 1;
    const auto used = static_cast<u32>((bits >> 48) & 255) + 1;
    const u32 first = zero_first ? zeros : used;
    const u32 start = std::min(static_cast<u32>((bits >> (8 * mask)) & 255), first - 1);
    const bool in_first = (column % width + start) % (zeros + used) < first;
    if (in_first == zero_first) return std::nullopt;
  }
  return column + column_shift(bits);
}

}  // namespace tma_jit::emulator::matrix

// One instruction on its way to an Op: what builders of forms work with.
#pragma once

#include <string_view>

#include "emulator/decode/form.h"
#include "emulator/fault.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::decode {

class Frame;

class Assembler {
 public:
  Assembler(Frame& frame, const ptx::Instruction& instruction, Match match, std::string_view target)
      : frame_(frame), instruction_(instruction), match_(std::move(match)), target_(target) {}

  Op op;

  // The handler of an instruction that does no more than compute values of its own lane.
  void computes(Handler handler, Flow flow = Flow::computes) {
    op.handler = handler;
    op.flow = flow;
  }

  // Modifiers.
  bool has(std::string_view modifier) const;
  // The n-th modifier, in the order of writing, that names a type; none where there are fewer.
  ptx::Type type(std::size_t n = 0) const;
  ptx::Space space() const;  // generic where none is named; every .shared:: is shared
  int vector() const;        // of .v2, .v4, .v8, .x2 ..., else 1
  const std::string_view& mnemonic() const { return instruction_.modifiers[0]; }
  const ptx::Instruction& instruction() const { return instruction_; }
  bool target_has(Needs needs) const { return decode::has(target_, needs); }

  // Operands, by number. Widths are checked against the type.
  std::size_t count() const { return instruction_.operands.size(); }
  const ptx::Operand& operand(std::size_t i) const { return instruction_.operands[i]; }
  Place destination(std::size_t i, ptx::Type type) { return destination(operand(i), type); }
  Place source(std::size_t i, ptx::Type type) { return source(operand(i), type); }
  Place predicate(std::size_t i) { return predicate(operand(i)); }  // read: may be negated or a constant
  Place predicate_destination(std::size_t i) { return destination(operand(i), ptx::Type::pred); }
  Place destination(const ptx::Operand& operand, ptx::Type type);
  Place source(const ptx::Operand& operand, ptx::Type type);
  Place predicate(const ptx::Operand& operand);
  // ld, st and cvt let a register be wider than the type; elements of vectors too.
  Place wide_destination(const ptx::Operand& operand, ptx::Type type);
  Place wide_source(const ptx::Operand& operand, ptx::Type type);
  // The base of an address into op.a (or `base`), the constant part into op.offset.
  void address(std::size_t i) { op.a = address(operand(i), op.offset); }
  Place address(const ptx::Operand& operand, s64& offset);
  u64 immediate(std::size_t i) const { return operand(i).bits; }
  bool is_predicate(const ptx::Operand& operand) const;
  Frame& frame() { return frame_; }

  template <class... Args> [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    stop(FaultKind::unsupported, "{}: {}", instruction_.opcode, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  Place constant(const ptx::Operand& operand, ptx::Type type);
  void check_width(const ptx::Operand& operand, const Place& place, ptx::Type type) const;

  Frame& frame_;
  const ptx::Instruction& instruction_;
  const Match match_;
  const std::string_view target_;
};

}  // namespace tma_jit::emulator::decode

// The translation of one PTX instruction to an Op: the interface that builders of forms use.
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

  // Sets the handler of an instruction that only computes values of its own lane.
  void computes(Handler handler, Flow flow = Flow::computes) {
    op.handler = handler;
    op.flow = flow;
  }

  // Modifiers.
  bool has(std::string_view modifier) const;
  // Returns the n-th modifier, in source order, that names a type, or Type::none if there are fewer.
  ptx::Type type(std::size_t n = 0) const;
  ptx::Space space() const;  // generic if none is named; every .shared:: is shared
  int vector() const;        // the number in .v2, .v4, .v8, .x2 and so on, otherwise 1
  const std::string_view& mnemonic() const { return instruction_.modifiers[0]; }
  const ptx::Instruction& instruction() const { return instruction_; }
  bool target_has(Needs needs) const { return decode::has(target_, needs); }

  // Operands, by index. Widths are checked against the type.
  std::size_t count() const { return instruction_.operands.size(); }
  const ptx::Operand& operand(std::size_t i) const { return instruction_.operands[i]; }
  RegisterRef destination(std::size_t i, ptx::Type type) { return destination(operand(i), type); }
  RegisterRef source(std::size_t i, ptx::Type type) { return source(operand(i), type); }
  RegisterRef predicate(std::size_t i) { return predicate(operand(i)); }  // a source; it may be negated or a constant
  RegisterRef predicate_destination(std::size_t i) { return destination(operand(i), ptx::Type::pred); }
  RegisterRef destination(const ptx::Operand& operand, ptx::Type type);
  RegisterRef source(const ptx::Operand& operand, ptx::Type type);
  RegisterRef predicate(const ptx::Operand& operand);
  // In ld, st and cvt a register may be wider than the type, and so may the elements of a vector.
  RegisterRef wide_destination(const ptx::Operand& operand, ptx::Type type);
  RegisterRef wide_source(const ptx::Operand& operand, ptx::Type type);
  // Decodes an address: its base goes to op.a (or is returned), its constant part to op.offset.
  void address(std::size_t i) { op.a = address(operand(i), op.offset); }
  RegisterRef address(const ptx::Operand& operand, s64& offset);
  u64 immediate(std::size_t i) const { return operand(i).bits; }
  bool is_predicate(const ptx::Operand& operand) const;
  Frame& frame() { return frame_; }

  template <class... Args> [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw_fault(FaultKind::unsupported, "{}: {}", instruction_.opcode,
                fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  RegisterRef constant(const ptx::Operand& operand, ptx::Type type);
  void check_width(const ptx::Operand& operand, const RegisterRef& reg, ptx::Type type) const;

  Frame& frame_;
  const ptx::Instruction& instruction_;
  const Match match_;
  const std::string_view target_;
};

}  // namespace tma_jit::emulator::decode

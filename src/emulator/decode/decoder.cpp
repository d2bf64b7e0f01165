#include "emulator/decode/decoder.h"

#include <algorithm>

#include "emulator/decode/assembler.h"
#include "emulator/decode/coverage.h"
#include "emulator/exec/branch_table.h"
#include "emulator/exec/handlers.h"
#include "emulator/fault.h"

namespace tma_jit::emulator::decode {
namespace {

using ptx::Operand;

constexpr std::size_t kDeepestCall = 32;
constexpr std::size_t kMostOps = std::size_t{1} << 20;
constexpr u32 kMostCalls = 1U << 16;
constexpr u32 kMostParameterBytes = 32764;

class Decoder {
 public:
  Decoder(const ptx::Module& module, const GlobalAddresses& globals)
      : module_(module), program_(std::make_unique<Program>()), layout_(*program_, globals) {
    program_->module = &module;
  }

  std::unique_ptr<const Program> decode(const ptx::Function& kernel);

 private:
  void lay_out_module_shared();
  void lay_out_parameters(Frame& frame, const ptx::Function& kernel);
  void emit_body(Frame& frame);
  void emit(Frame& frame, const ptx::Instruction& instruction);
  void emit_plain(Frame& frame, const ptx::Instruction& instruction);
  void emit_call(Frame& frame, const ptx::Instruction& instruction);
  void emit_assert(Frame& frame, const ptx::Instruction& instruction, const Operand& arguments);
  void emit_return(Frame& frame, const ptx::Instruction& instruction);
  void guard(Frame& frame, const ptx::Instruction& instruction, Op& op);
  void pass(Frame& from, Frame& to, const Operand& list, const std::vector<ptx::Variable>& formals);

  const ptx::Module& module_;
  std::unique_ptr<Program> program_;
  Layout layout_;
  u32 inlined_ = 0;                                // calls
  std::vector<const ptx::Function*> calls_;        // those we are in, the kernel first
  std::vector<std::vector<std::size_t>> returns_;  // branches to patch to the end of each
};

u32 aligned(u32 value, u32 unit) {
  return (value + unit - 1) / unit * unit;
}

void Decoder::lay_out_module_shared() {
  for (const ptx::Variable& variable : module_.variables) {
    if (variable.space != ptx::Space::shared) continue;
    if (variable.external || variable.elements == 0) {
      program_->shared_symbols[variable.name] = kDynamicShared;
      program_->shared_alignment = std::max(program_->shared_alignment, variable.alignment);
    } else {
      program_->shared_symbols[variable.name] = layout_.add_shared(variable);
    }
  }
}

// Offsets from the start of the parameters; PTX aligns each to its own alignment.
void Decoder::lay_out_parameters(Frame& frame, const ptx::Function& kernel) {
  u32 offset = 0;
  for (const ptx::Variable& parameter : kernel.parameters) {
    offset = aligned(offset, parameter.alignment);
    if (parameter.bytes() > kMostParameterBytes || offset + parameter.bytes() > kMostParameterBytes)
      stop(FaultKind::limit, "with {} the parameters have more than {} bytes", parameter.name, kMostParameterBytes);
    frame.define(parameter.name, {Symbol::Kind::parameter, offset});
    program_->parameters.push_back({offset, static_cast<u32>(parameter.bytes())});
    offset += static_cast<u32>(parameter.bytes());
  }
  program_->parameter_bytes = offset;
}

std::unique_ptr<const Program> Decoder::decode(const ptx::Function& kernel) {
  program_->function = &kernel;
  program_->shared_bytes = kReservedShared;
  lay_out_module_shared();
  Frame frame(layout_, kernel);
  lay_out_parameters(frame, kernel);
  calls_.push_back(&kernel);
  emit_body(frame);
  Op end;
  end.handler = do_exit;
  program_->ops.push_back(std::move(end));
  return std::move(program_);
}

void Decoder::emit_body(Frame& frame) {
  returns_.emplace_back();
  const std::size_t first = program_->ops.size();
  for (const ptx::Instruction& instruction : frame.function().body) {
    frame.ops_of.push_back(static_cast<u32>(program_->ops.size()));
    try {
      emit(frame, instruction);
    } catch (Fault& fault) {
      if (fault.place.empty()) {
        const std::string place = module_.place_of(instruction);
        fault.place = fmt::format("  at {}{}PTX line {}", place, place.empty() ? "" : ", ", instruction.line);
      }
      throw;
    }
    if (program_->ops.size() > kMostOps) stop(FaultKind::limit, "more than {} instructions", kMostOps);
  }
  const auto end = static_cast<u32>(program_->ops.size());
  frame.ops_of.push_back(end);
  for (std::size_t i = first; i < end; ++i) {
    Op& op = program_->ops[i];
    if (op.handler == do_branch && op.source != nullptr && op.kind == 1) {
      op.target = frame.ops_of[op.target];
      op.kind = 0;
    }
    if (op.handler == do_branch_table && op.kind == 1) {
      auto table = std::make_shared<BranchTable>(static_cast<const BranchTable&>(*op.data));
      for (u32& target : table->targets) target = frame.ops_of[target];
      op.data = std::move(table);
      op.kind = 0;
    }
  }
  for (const std::size_t i : returns_.back()) program_->ops[i].target = end;
  returns_.pop_back();
}

void Decoder::guard(Frame& frame, const ptx::Instruction& instruction, Op& op) {
  op.source = &instruction;
  if (instruction.guard == ptx::Instruction::kNone) return;
  op.guard = frame.reg(instruction.guard);
  op.guard_negated = instruction.guard_negated;
}

void Decoder::emit(Frame& frame, const ptx::Instruction& instruction) {
  const std::string_view mnemonic = instruction.modifiers[0];
  if (mnemonic == "call") return emit_call(frame, instruction);
  if (mnemonic == "ret" && calls_.size() > 1) return emit_return(frame, instruction);
  emit_plain(frame, instruction);
}

void Decoder::emit_plain(Frame& frame, const ptx::Instruction& instruction) {
  const Match found = match(instruction);
  if (!has(module_.target, found.form->needs)) {
    stop(FaultKind::unsupported, "{} needs {}; the target is {}", instruction.opcode, words_of(found.form->needs),
         module_.target);
  }
  Assembler assembler(frame, instruction, found, module_.target);
  guard(frame, instruction, assembler.op);
  found.form->build(assembler);
  note_tried(found);
  if (found.form->needs == Needs::wgmma) program_->uses_wgmma = true;
  const std::string_view mnemonic = instruction.modifiers[0];
  assembler.op.copies = mnemonic == "mov";
  assembler.op.writes_list = mnemonic == "ld" || mnemonic == "ldmatrix" || (assembler.op.copies && !assembler.op.d);
  program_->ops.push_back(std::move(assembler.op));
}

void Decoder::emit_return(Frame& frame, const ptx::Instruction& instruction) {
  Op op;
  op.handler = do_branch;
  guard(frame, instruction, op);
  returns_.back().push_back(program_->ops.size());
  program_->ops.push_back(std::move(op));
}

// Formal parameters take the places of the actual ones.
void Decoder::pass(Frame& from, Frame& to, const Operand& list, const std::vector<ptx::Variable>& formals) {
  if (list.parts.size() != formals.size()) {
    stop(FaultKind::syntax, "a call with {} values of a function with {}", list.parts.size(), formals.size());
  }
  for (std::size_t i = 0; i < formals.size(); ++i) {
    const auto symbol = list.parts[i].kind == Operand::Kind::symbol ? from.symbol(list.parts[i].name) : std::nullopt;
    if (!symbol || symbol->kind != Symbol::Kind::local) {
      stop(FaultKind::unsupported, "a call whose values are not .param variables");
    }
    to.define(formals[i].name, *symbol);
  }
}

// call [.uni] [(results),] name [, (arguments)]
void Decoder::emit_call(Frame& frame, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const bool has_results = !operands.empty() && operands[0].kind == Operand::Kind::list;
  const std::size_t at = has_results ? 1 : 0;
  if (at >= operands.size() || operands[at].kind != Operand::Kind::symbol) {
    stop(FaultKind::unsupported, "a call through a register");
  }
  static const Operand kNone = [] {
    Operand none;
    none.kind = Operand::Kind::list;
    return none;
  }();
  const Operand& results = has_results ? operands[0] : kNone;
  const Operand& arguments = at + 1 < operands.size() ? operands[at + 1] : kNone;
  const std::string_view name = operands[at].name;
  if (name == "__assertfail") return emit_assert(frame, instruction, arguments);
  const ptx::Function* callee = module_.function(name);
  if (callee == nullptr || !callee->defined)
    stop(FaultKind::unsupported, "a call of {}, which this text does not define", name);
  if (calls_.size() >= kDeepestCall || std::ranges::find(calls_, callee) != calls_.end()) {
    stop(FaultKind::unsupported, "a recursive call of {}", name);
  }
  if (instruction.guard != ptx::Instruction::kNone) stop(FaultKind::unsupported, "a guarded call");
  if (++inlined_ > kMostCalls) stop(FaultKind::limit, "more than {} calls, each taken in anew", kMostCalls);
  Frame inner(layout_, *callee);
  pass(frame, inner, results, callee->results);
  pass(frame, inner, arguments, callee->parameters);
  calls_.push_back(callee);
  emit_body(inner);
  calls_.pop_back();
}

// __assertfail(message, file, line, function, char size)
void Decoder::emit_assert(Frame& frame, const ptx::Instruction& instruction, const Operand& arguments) {
  Op op;
  op.handler = do_assert;
  guard(frame, instruction, op);
  for (const Operand& argument : arguments.parts) {
    const auto symbol = frame.symbol(argument.name);
    if (!symbol) stop(FaultKind::syntax, "no variable {}", argument.name);
    op.list.push_back(frame.address_of(*symbol, 0, 8));
  }
  if (op.list.size() < 4) stop(FaultKind::syntax, "__assertfail takes 5 values");
  program_->ops.push_back(std::move(op));
}

}  // namespace

std::unique_ptr<const Program> decode(const ptx::Module& module, const ptx::Function& kernel,
                                      const GlobalAddresses& globals) {
  return Decoder(module, globals).decode(kernel);
}

}  // namespace tma_jit::emulator::decode

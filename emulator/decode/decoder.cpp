#include "emulator/decode/decoder.h"

#include <algorithm>

#include "emulator/decode/assembler.h"
#include "emulator/decode/call_graph.h"
#include "emulator/decode/kernel_decoder.h"
#include "emulator/fault.h"
#include "emulator/machine/activations.h"
#include "emulator/machine/branch_table.h"
#include "emulator/machine/control.h"

namespace tma_jit::emulator::decode {
namespace {

constexpr std::size_t kMostOps = std::size_t{1} << 20;
constexpr u32 kMostParameterBytes = 32764;

u32 aligned(u32 value, u32 unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

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

// Offsets are relative to the start of the parameter block. PTX aligns each parameter to its own alignment.
void Decoder::lay_out_parameters(Frame& frame, const ptx::Function& kernel) {
  u32 offset = 0;
  for (const ptx::Variable& parameter : kernel.parameters) {
    offset = aligned(offset, parameter.alignment);
    if (parameter.bytes() > kMostParameterBytes || offset + parameter.bytes() > kMostParameterBytes) {
      throw_fault(FaultKind::limit, "with {} the parameters have more than {} bytes", parameter.name,
                  kMostParameterBytes);
    }
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
  lay_out_callables(kernel);
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
      if (fault.location.empty()) {
        const std::string location = module_.location_of(instruction);
        fault.location = fmt::format("  at {}{}PTX line {}", location, location.empty() ? "" : ", ", instruction.line);
      }
      throw;
    }
    if (program_->ops.size() > kMostOps) throw_fault(FaultKind::limit, "more than {} instructions", kMostOps);
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
  const Match found = forms_.match(instruction);
  for (const Needs needs : {found.form->needs, needs_of_modifiers(instruction)}) {
    if (has(module_.target, needs)) continue;
    throw_fault(FaultKind::unsupported, "{} needs {}; the target is {}", instruction.opcode, description_of(needs),
                module_.target);
  }
  Assembler assembler(frame, instruction, found, module_.target);
  guard(frame, instruction, assembler.op);
  found.form->build(assembler);
  forms_.note_covered(found);
  if (found.form->needs == Needs::wgmma) program_->uses_wgmma = true;
  const std::string_view mnemonic = instruction.modifiers[0];
  assembler.op.is_move = mnemonic == "mov";
  program_->ops.push_back(std::move(assembler.op));
}

void Decoder::emit_return(Frame& frame, const ptx::Instruction& instruction) {
  Op op;
  op.handler = do_branch;
  guard(frame, instruction, op);
  returns_.back().push_back(program_->ops.size());
  program_->ops.push_back(std::move(op));
}

std::unique_ptr<const Program> decode(const ptx::Module& module, const ptx::Function& kernel,
                                      const GlobalAddresses& globals, const FormTable& forms) {
  return Decoder(module, globals, forms).decode(kernel);
}

}  // namespace tma_jit::emulator::decode

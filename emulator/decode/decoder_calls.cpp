// Calls of functions of the device runtime, of inlined functions, and of functions with an activation of their own. PTX
// ISA 9.0, "call".
#include <algorithm>

#include "emulator/decode/call_graph.h"
#include "emulator/decode/kernel_decoder.h"
#include "emulator/fault.h"
#include "emulator/machine/activations.h"
#include "emulator/machine/control.h"

namespace tma_jit::emulator::decode {
namespace {

constexpr std::size_t kDeepestCall = 32;
constexpr u32 kMostCalls = 1U << 16;

// Returns the address of a .param variable, which is in local memory in the emulator.
RegisterRef value_of(Frame& frame, const Operand& operand) {
  const auto symbol = frame.symbol(operand);
  if (!symbol || symbol->kind != Symbol::Kind::local)
    throw_fault(FaultKind::unsupported, "a call whose values are not .param variables");
  return frame.address_of(*symbol, 0, 8);
}

std::vector<CallForm::Value> values_of(Frame& frame, const Operand& list, const std::vector<ptx::Variable>& formals) {
  if (list.parts.size() != formals.size())
    throw_fault(FaultKind::syntax, "a call with {} values of a function with {}", list.parts.size(), formals.size());
  std::vector<CallForm::Value> values;
  for (std::size_t i = 0; i < formals.size(); ++i)
    values.push_back({value_of(frame, list.parts[i]), static_cast<u32>(formals[i].bytes())});
  return values;
}

}  // namespace

// The code of out-of-line functions comes first: lanes in a function then have lower program counters than lanes that
// wait after the call, so that they reconverge there.
void Decoder::lay_out_callables(const ptx::Function& kernel) {
  const auto entered = out_of_line_functions(module_, kernel);
  if (entered.empty()) return;
  for (const ptx::Function* const function : entered) {
    program_->callables.push_back(std::make_shared<Callable>());
    Callable& callable = *program_->callables.back();
    callable.function = function;
    callables_[function] = &callable;
    program_->callables_by_address[function_address(module_, function->name)] = &callable;
  }
  Op start;
  start.handler = do_branch;
  program_->ops.push_back(std::move(start));
  for (const auto& callable : program_->callables) emit_callable(*callable);
  program_->ops[0].target = static_cast<u32>(program_->ops.size());
}

void Decoder::emit_callable(Callable& callable) {
  const ptx::Function& function = *callable.function;
  layout_.within(&callable);
  Frame frame(layout_, function);
  const auto lay_out = [&](const std::vector<ptx::Variable>& formals, std::vector<Callable::Value>& values) {
    for (const ptx::Variable& formal : formals) {
      const u32 offset = layout_.add_local(formal.bytes(), formal.alignment);
      frame.define(formal.name, {Symbol::Kind::local, offset});
      values.push_back({offset, static_cast<u32>(formal.bytes())});
    }
  };
  lay_out(function.parameters, callable.parameters);
  lay_out(function.results, callable.results);
  callable.entry = static_cast<u32>(program_->ops.size());
  calls_ = {nullptr, &function};
  emit_body(frame);
  calls_.clear();
  Op end;
  end.handler = do_return;
  if (!function.body.empty()) end.source = &function.body.back();
  program_->ops.push_back(std::move(end));
  layout_.within(nullptr);
}

// call [.uni] [(results),] name [, (arguments)];
// call [.uni] [(results),] register [, (arguments)], prototype;
Decoder::Call Decoder::parts_of(const ptx::Instruction& instruction) {
  static const Operand nothing = [] {
    Operand none;
    none.kind = Operand::Kind::list;
    return none;
  }();
  const auto& operands = instruction.operands;
  Call call;
  call.results = call.arguments = &nothing;
  std::size_t next = 0;
  const auto take = [&](auto... kinds) -> const Operand* {
    if (next >= operands.size() || !((operands[next].kind == kinds) || ...)) return nullptr;
    return &operands[next++];
  };
  using Kind = Operand::Kind;
  if (const Operand* const list = take(Kind::list)) call.results = list;
  call.target = take(Kind::symbol, Kind::reg, Kind::label);
  if (call.target == nullptr) throw_fault(FaultKind::syntax, "a call of nothing");
  if (const Operand* const list = take(Kind::list)) call.arguments = list;
  if (call.target->kind == Kind::reg) call.prototype = take(Kind::symbol, Kind::label);
  if (next != operands.size())
    throw_fault(FaultKind::syntax, "a call with {} operands too many", operands.size() - next);
  return call;
}

void Decoder::emit_call(Frame& frame, const ptx::Instruction& instruction) {
  const Call call = parts_of(instruction);
  if (call.target->kind == Operand::Kind::reg) return emit_out_of_line(frame, instruction, call, nullptr);
  const std::string_view name = call.target->name;
  const ptx::Function* const callee = module_.function(name);
  if (callee == nullptr || !callee->defined) {
    const auto runtime = runtime::runtime_function(name);
    if (!runtime) throw_fault(FaultKind::unsupported, "a call of {}, which this text does not define", name);
    return emit_runtime_call(frame, instruction, call, *runtime);
  }
  if (callee->entry) throw_fault(FaultKind::unsupported, "a call of the kernel {}", name);
  const auto entered = callables_.find(callee);
  if (entered != callables_.end()) return emit_out_of_line(frame, instruction, call, entered->second);
  emit_inlined(frame, call, *callee);
}

// Copies actual parameters to formal parameters.
void Decoder::pass(Frame& from, Frame& to, const Operand& list, const std::vector<ptx::Variable>& formals) {
  if (list.parts.size() != formals.size()) {
    throw_fault(FaultKind::syntax, "a call with {} values of a function with {}", list.parts.size(), formals.size());
  }
  for (std::size_t i = 0; i < formals.size(); ++i) {
    const auto symbol = from.symbol(list.parts[i]);
    if (!symbol || symbol->kind != Symbol::Kind::local) {
      throw_fault(FaultKind::unsupported, "a call whose values are not .param variables");
    }
    to.define(formals[i].name, *symbol);
  }
}

void Decoder::emit_inlined(Frame& frame, const Call& call, const ptx::Function& callee) {
  if (calls_.size() >= kDeepestCall)
    throw_fault(FaultKind::limit, "calls {} deep, each taken in where it stands", calls_.size());
  if (++inlined_ > kMostCalls) throw_fault(FaultKind::limit, "more than {} calls, each taken in anew", kMostCalls);
  Frame inner(layout_, callee);
  pass(frame, inner, *call.results, callee.results);
  pass(frame, inner, *call.arguments, callee.parameters);
  calls_.push_back(&callee);
  emit_body(inner);
  calls_.pop_back();
}

// `callee` is null for an indirect call, whose parameters are checked when it executes.
void Decoder::emit_out_of_line(Frame& frame, const ptx::Instruction& instruction, const Call& call,
                               const Callable* callee) {
  auto form = std::make_shared<CallForm>();
  form->callee = callee;
  const std::vector<ptx::Variable>* parameters = callee != nullptr ? &callee->function->parameters : nullptr;
  const std::vector<ptx::Variable>* results = callee != nullptr ? &callee->function->results : nullptr;
  Op op;
  if (callee == nullptr) {
    const auto& prototypes = frame.function().prototypes;
    const auto found = call.prototype != nullptr ? prototypes.find(call.prototype->name) : prototypes.end();
    if (found == prototypes.end()) {
      throw_fault(FaultKind::syntax, "a call through a register by the prototype \"{}\", which {} does not have",
                  call.prototype != nullptr ? call.prototype->name : "", frame.function().name);
    }
    parameters = &found->second.parameters;
    results = &found->second.results;
    if (!found->second.targets.empty()) {
      const ptx::Function* const target = module_.function(found->second.targets.front());
      if (target == nullptr) throw_fault(FaultKind::syntax, "no function {}", found->second.targets.front());
      parameters = &target->parameters;
      results = &target->results;
    }
    op.a = frame.reg(call.target->index);
    if (op.a.width != 8) throw_fault(FaultKind::syntax, "a call through a register that has not 64 bits");
  }
  form->arguments = values_of(frame, *call.arguments, *parameters);
  form->results = values_of(frame, *call.results, *results);
  op.handler = do_call;
  op.data = std::move(form);
  guard(frame, instruction, op);
  program_->ops.push_back(std::move(op));
}

void Decoder::emit_runtime_call(Frame& frame, const ptx::Instruction& instruction, const Call& call,
                                const runtime::RuntimeSignature& signature) {
  const std::size_t results = call.results->parts.size(), arguments = call.arguments->parts.size();
  if (arguments != signature.arguments || results > (signature.returns ? 1U : 0U)) {
    throw_fault(FaultKind::syntax, "a call with {} values and {} results of a function with {} and {}", arguments,
                results, signature.arguments, signature.returns ? 1 : 0);
  }
  Op op;
  op.handler = runtime::do_runtime_call;
  op.kind = static_cast<u16>(signature.function);
  guard(frame, instruction, op);
  for (const Operand& argument : call.arguments->parts) op.list.push_back(value_of(frame, argument));
  if (results != 0) op.a = value_of(frame, call.results->parts[0]);
  program_->ops.push_back(std::move(op));
}

}  // namespace tma_jit::emulator::decode

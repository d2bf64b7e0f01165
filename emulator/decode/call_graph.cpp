#include "emulator/decode/call_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "emulator/machine/address.h"

namespace tma_jit::emulator::decode {
namespace {

using ptx::Function;
using ptx::Operand;

constexpr u64 kFunctionBytes = 16;  // distance between two function addresses

class CallGraph {
 public:
  explicit CallGraph(const ptx::Module& module) : module_(module) {
    for (const auto& function : module.functions)
      if (function->defined && !function->entry) by_name_[function->name] = function.get();
    find_taken();
  }

  std::set<const Function*> entered_below(const Function& kernel) {
    visit(kernel);
    return std::move(entered_);
  }

 private:
  struct Visit {
    const Function* function;
    std::vector<const Function*> callees;
    std::size_t next = 0;
  };

  const Function* named(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  void take(std::string_view name) {
    if (const Function* function = named(name)) taken_.insert(function);
  }

  void find_taken() {
    for (const ptx::Variable& variable : module_.variables)
      for (const auto& entry : variable.names) take(entry.second);
    for (const auto& function : module_.functions) {
      for (const ptx::Instruction& instruction : function->body) {
        if (instruction.modifiers[0] == "call") continue;
        for (const Operand& operand : instruction.operands)
          if (operand.kind == Operand::Kind::symbol) take(operand.name);
      }
    }
  }

  std::vector<const Function*> callees_of(const Function& function) {
    std::set<const Function*> callees;
    for (const ptx::Instruction& instruction : function.body) {
      if (instruction.modifiers[0] != "call") continue;
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::Kind::list) continue;
        if (operand.kind == Operand::Kind::reg) {
          callees.insert(taken_.begin(), taken_.end());
          entered_.insert(taken_.begin(), taken_.end());
        } else if (const Function* callee = named(operand.name)) {
          callees.insert(callee);
          if (instruction.guard != ptx::Instruction::kNone) entered_.insert(callee);
        }
        break;  // the remaining operands are not callees
      }
    }
    return {callees.begin(), callees.end()};
  }

  // Visits depth first. A call of a function that is being visited closes a cycle, which is cut there.
  void visit(const Function& kernel) {
    std::set<const Function*> seen = {&kernel}, active = {&kernel};
    std::vector<Visit> path = {{&kernel, callees_of(kernel)}};
    while (!path.empty()) {
      Visit& top = path.back();
      if (top.next == top.callees.size()) {
        active.erase(top.function);
        path.pop_back();
        continue;
      }
      const Function* const callee = top.callees[top.next++];
      if (active.contains(callee)) entered_.insert(callee);
      if (!seen.insert(callee).second) continue;
      active.insert(callee);
      path.push_back({callee, callees_of(*callee)});
    }
  }

  const ptx::Module& module_;
  std::map<std::string_view, const Function*> by_name_;
  std::set<const Function*> taken_, entered_;
};

}  // namespace

std::vector<const Function*> out_of_line_functions(const ptx::Module& module, const Function& kernel) {
  const std::set<const Function*> entered = CallGraph(module).entered_below(kernel);
  std::vector<const Function*> ordered;
  for (const auto& function : module.functions)
    if (entered.contains(function.get())) ordered.push_back(function.get());
  return ordered;
}

u64 function_address(const ptx::Module& module, std::string_view name) {
  const Function* const function = module.function(name);
  if (function == nullptr || !function->defined || function->entry) return 0;
  const auto found = std::ranges::find(module.functions, function, [](const auto& owned) { return owned.get(); });
  return kFunctionWindow + kFunctionBytes * static_cast<u64>(1 + (found - module.functions.begin()));
}

}  // namespace tma_jit::emulator::decode

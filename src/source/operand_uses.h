// The operands of hooks, and how the hooks' texts use them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>
#include <tma_jit/plan.h>

namespace tma_jit::source {

// An operand, which is a member of the struct Hooks.
struct Operand {
  std::string name;
  DType type = DType::f32;
  std::size_t rank = 0;     // 0 for a scalar
  bool neighbours = false;  // whether the elements of the innermost dimension are adjacent in memory
};
using Operands = std::span<const Operand>;

// Returns the operands in the order of the struct's members.
std::vector<Operand> operands_of(const Plan& plan);

// Fails unless every tensor that the hook uses has as many indices as dimensions and no scalar has any: parse, as "hook
// NAME:line:column: error: ...". The brackets of the text must match.
[[nodiscard]] Result<void> check_uses(const Hook& hook, Operands operands);

// Replaces the brackets of tensors' indices by parentheses, because C++17 allows only one index in brackets. Keeps the
// position of every byte.
std::string with_parentheses(std::string_view text, Operands operands);
// The inverse of with_parentheses.
std::string with_brackets(std::string_view text, Operands operands);

}  // namespace tma_jit::source

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
  std::size_t rank = 0;      // 0 for a scalar
  bool neighbours = false;   // whether the elements of the innermost dimension are adjacent in memory
  std::size_t together = 1;  // how many of them, from multiples of it on, may be read by one access
};
using Operands = std::span<const Operand>;

// Returns the operands in the order of the struct's members.
std::vector<Operand> operands_of(const Plan& plan);

// Fails unless every tensor that the hook uses has as many indices as dimensions and no scalar has any: parse, as "hook
// NAME:line:column: error: ...". The brackets of the text must match.
[[nodiscard]] Result<void> check_uses(const Hook& hook, Operands operands);

// An operand that a hook reads only at the row, the column or both of the element that it is given; or a vector of
// which it reads only the first element.
struct OwnOperand {
  Operand operand;
  bool row = false, column = false;
};
// Returns these operands of a hook with parameters named row and column, the first kOwnMost of them: more would not fit
// into registers. None if the text is not one expression without assignments.
inline constexpr std::size_t kOwnMost = 3;
std::vector<OwnOperand> own_operands_of(const Hook& hook, Operands operands);
// Replaces the indices of these operands and their brackets by blanks. Keeps the position of every other byte.
std::string without_indices(std::string_view text, std::span<const OwnOperand> own);

// Returns whether the hook's text is the body of a function and not an expression.
bool is_body(const Hook& hook);

// Replaces the brackets of tensors' indices by parentheses, because C++17 allows only one index in brackets. Keeps the
// position of every byte.
std::string with_parentheses(std::string_view text, Operands operands);
// The inverse of with_parentheses.
std::string with_brackets(std::string_view text, Operands operands);

}  // namespace tma_jit::source

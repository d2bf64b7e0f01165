// What hooks read beside their parameters, and how their text names it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>
#include <tma_jit/plan.h>

namespace tma_jit::source {

// A member of the struct Hooks.
struct Operand {
  std::string name;
  DType type = DType::f32;
  std::size_t rank = 0;     // 0: a scalar
  bool neighbours = false;  // the elements of a tensor's innermost dimension are
};
using Operands = std::span<const Operand>;

// In the order of the struct's members.
std::vector<Operand> operands_of(const Plan& plan);

// Whether each tensor that the hook names is read with as many indices as it has dimensions, and no scalar is. Fails
// with parse, as "hook NAME:line:column: error: ...". The text's brackets match.
[[nodiscard]] Result<void> check_uses(const Hook& hook, Operands operands);

// The text with the brackets of tensors' indices as parentheses, which C++17 can give several of; every byte stays
// where it is.
std::string with_parentheses(std::string_view text, Operands operands);
// The inverse.
std::string with_brackets(std::string_view text, Operands operands);

}  // namespace tma_jit::source

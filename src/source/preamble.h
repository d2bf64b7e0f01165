// The text that emission puts before a template: constants, types, Dims, hooks, and a #line for the template's first
// line.
#pragma once

#include <string>
#include <string_view>

#include <tma_jit/plan.h>

namespace tma_jit::source {

// The preamble's file name in errors.
inline constexpr std::string_view kPreambleName = "preamble";

// Returns the lines by which every preamble begins: what it includes. `tensor_operands`: hooks read tensors of their own.
std::string preamble_includes(bool tensor_operands);
// Returns whether a plan's hooks do.
bool has_tensor_operand(const Plan& plan);

// Ends with `#line 1 "FILE"`, so that the template's text can follow unchanged.
std::string preamble(const Plan& plan);

// Returns a #line directive with its newline, e.g. `#line 1 "name"`.
std::string line_directive(std::size_t line, std::string_view file);

}  // namespace tma_jit::source

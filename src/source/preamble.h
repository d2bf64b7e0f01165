// The text that emission puts before a template: constants, types, Dims, hooks, and a #line for the template's first
// line.
#pragma once

#include <string>
#include <string_view>

#include <tma_jit/plan.h>

namespace tma_jit::source {

// The preamble's file name in errors.
inline constexpr std::string_view kPreambleName = "preamble";

// Ends with `#line 1 "FILE"`, so that the template's text can follow unchanged.
std::string preamble(const Plan& plan);

// Returns a #line directive with its newline, e.g. `#line 1 "name"`.
std::string line_directive(std::size_t line, std::string_view file);

}  // namespace tma_jit::source

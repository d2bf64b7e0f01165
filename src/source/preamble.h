// What emission writes above a template: constants, types, Dims, hooks, and the #line that hands over to the template.
#pragma once

#include <string>
#include <string_view>

#include <tma_jit/plan.h>

namespace tma_jit::source {

// What errors call the preamble's own lines.
inline constexpr std::string_view kPreambleName = "preamble";

// Ends with `#line 1 "FILE"`: the template's text follows as it is.
std::string preamble(const Plan& plan);

// `#line 1 "name"` with its newline.
std::string line_directive(std::size_t line, std::string_view file);

}  // namespace tma_jit::source

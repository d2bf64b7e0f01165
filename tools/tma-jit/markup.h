// Text inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace tma_jit::cli {

// Returns the text with what would begin or end an element written as entities. It is for the content of elements:
// quotes are left as they are.
std::string escaped_markup(std::string_view text);

}  // namespace tma_jit::cli

// The manual page of the command, for man(1).
#pragma once

#include <string>
#include <string_view>

#include "declared.h"

namespace tma_jit::cli {

// Returns troff source with the macros of man(7).
std::string manual_page(const DeclaredVerb& command, std::string_view version);

}  // namespace tma_jit::cli

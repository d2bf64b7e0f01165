// Finds the arguments of a hook that its text uses.
#pragma once

#include <string_view>

namespace tma_jit::plan {

// Returns whether the CUDA text uses `name`: as a word outside comments and quotes that is neither a member of an
// object nor declared by the text itself ("f32 b = 1").
bool names_operand(std::string_view text, std::string_view name);

}  // namespace tma_jit::plan

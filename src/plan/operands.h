// Which of a hook's arguments its text names.
#pragma once

#include <string_view>

namespace tma_jit::plan {

// Whether the CUDA text uses `name`: as a word outside comments and quotes, no member of something, and not as what a
// declaration of the text's own introduces ("f32 b = 1").
bool names_operand(std::string_view text, std::string_view name);

}  // namespace tma_jit::plan

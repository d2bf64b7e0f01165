// What a text of a template says, whatever its comments: by this, records of tuning recognise what was measured.
#pragma once

#include <string_view>

#include "base/digest.h"

namespace tma_jit::source {

// Returns a digest of the text's tokens: those of CUDA, and those of the manifest's lines without the descriptions at
// their ends. Comments, blanks and the places of line ends do not change it, but for the ends of preprocessor lines and
// the blanks that separate operators, or the name of a macro and a parenthesis.
[[nodiscard]] Digest meaning_of(std::string_view text);

// The same, remembered while the file of this name has the same text. Thread-safe.
[[nodiscard]] Digest meaning_of_file(std::string_view name, std::string_view text);

}  // namespace tma_jit::source

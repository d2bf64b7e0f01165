// The preprocessor lines of a CUDA text that matter to emission. Comments are honoured; macros are not expanded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tma_jit::emission {

struct Directive {
  enum class Kind { include_quoted, include_angled, pragma_once, line, open, close };
  Kind kind;
  std::string argument;   // the included name; the rest of a #line
  int line = 0;           // 1-based
  std::size_t begin = 0;  // first byte of the line
  std::size_t end = 0;    // one past the line's newline
};

// Every #include, #pragma once, #line, #if.. (open) and #endif (close), in order.
std::vector<Directive> directives_of(std::string_view text);

// The text with comments and the insides of literals blanked: same length, same lines.
std::string blanked(std::string_view text);

}  // namespace tma_jit::emission

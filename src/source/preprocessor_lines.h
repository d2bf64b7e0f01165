// The preprocessor lines of a CUDA text that matter to emission, and the proof that the compiler can open nothing by
// them but what they name. Comments and joined lines are honoured; macros are not expanded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/token_reader.h"

namespace tma_jit::source {

struct Directive {
  // has_include is an __has_include in the condition of an #if or #elif.
  enum class Kind { include_quoted, include_angled, has_include, pragma_once, line, open, close };
  Kind kind;
  std::string argument;   // the included name; the rest of a #line
  int line = 0;           // 1-based, of the #
  std::size_t begin = 0;  // the #
  std::size_t end = 0;    // one past the newline that ends the directive
  int next_line = 0;      // the line that begins at `end`
};

struct Scan {
  std::vector<Directive> directives;  // every #include, #pragma once, #line, #if.. (open) and #endif (close), in order
  // The first of what cannot be followed or makes the result depend on more than the text: the name of a header that is
  // absolute or made by a macro, #include_next, __has_include outside a condition, a directive that begins with a
  // digraph, a trigraph, a NUL, and the macros of date and time.
  std::optional<Refusal> refusal;
  bool pastes = false;  // a macro has the operator ##
  // The first identifier that ## could lengthen to __has_include or to a macro of date or time. It is a refusal where
  // any text of the translation unit pastes.
  std::optional<Refusal> fragment;
};

Scan scan(std::string_view text);

}  // namespace tma_jit::source

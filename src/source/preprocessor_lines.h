// Finds the preprocessor lines of a CUDA text that matter to emission, and verifies that through them the compiler can
// open only the files that they name. Handles comments and joined lines; does not expand macros.
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
  std::string argument;   // the included name, or the rest of a #line
  int line = 0;           // 1-based line of the #
  std::size_t begin = 0;  // offset of the #
  std::size_t end = 0;    // offset after the newline that ends the directive
  int next_line = 0;      // the line that begins at `end`

  bool names_a_header() const {
    return kind == Kind::include_quoted || kind == Kind::include_angled || kind == Kind::has_include;
  }
};

struct Scan {
  std::vector<Directive> directives;  // every #include, #pragma once, #line, #if.. (open) and #endif (close), in order
  // The first construct that cannot be followed or makes the result depend on more than the text: a header name that is
  // absolute or produced by a macro, #include_next, __has_include outside a condition, a directive that begins with a
  // digraph, a trigraph, a NUL character, and the macros of date and time.
  std::optional<Refusal> refusal;
  bool pastes = false;  // whether a macro uses the operator ##
  // The first identifier that ## could extend to __has_include or to a macro of date or time. It is refused if any text
  // of the translation unit uses ##.
  std::optional<Refusal> fragment;
};

Scan scan(std::string_view text);

}  // namespace tma_jit::source

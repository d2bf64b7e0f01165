// The text of one file of a manifest, positions in it, and errors that show a position with a caret.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::templates {

// Lines and columns are 1-based; columns and lengths are in bytes. `file` is 0 for the template itself, and i for the
// i-th file that it uses.
struct Position {
  int line = 0;
  int column = 0;
  int length = 1;
  int file = 0;
};

// Shared by a template and every expression in it.
struct SourceText {
  std::string file;  // the file's name in errors
  std::string text;
};
using SourcePointer = std::shared_ptr<const SourceText>;

// Returns the line without its newline; "" past the last.
std::string_view line_of(const SourceText& source, int line);

// Returns an ErrorCode::parse error, "file:line:column: message", with the source line and a caret line as detail.
Error error_at(const SourceText& source, const Position& at, std::string_view message);

}  // namespace tma_jit::templates

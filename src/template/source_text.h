// The text of one template file, places in it, and errors that show the place with a caret.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::templates {

// Lines and columns count from 1; columns and lengths are in bytes.
struct Position {
  int line = 0;
  int column = 0;
  int length = 1;
};

// Shared by a template and every expression in it.
struct SourceText {
  std::string file;  // as errors name it
  std::string text;
};
using SourcePointer = std::shared_ptr<const SourceText>;

// The line without its end; "" past the last.
std::string_view line_of(const SourceText& source, int line);

// ErrorCode::parse, "file:line:column: message", with the source line and a caret line as detail.
Error error_at(const SourceText& source, const Position& at, std::string_view message);

}  // namespace tma_jit::templates

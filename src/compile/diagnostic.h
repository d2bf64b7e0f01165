// What the compiler and the assembler say, as structure. The log's format is EDG's: `file(line): error: text`, notes,
// the source line and a caret; and ptxas's: `ptxas fatal   : text`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tma_jit::compile {

struct Diagnostic {
  enum class Severity { error, warning, note, info };
  Severity severity = Severity::error;
  std::string file;  // empty: no position
  int line = 0;
  int column = 0;      // 1-based, in characters; 0 unknown
  std::string number;  // "177-D", "C7510"
  std::string message;
  std::string source;              // the source line, "" unknown
  std::vector<std::string> notes;  // further lines of the compiler's
  bool assembler = false;          // ptxas said it; `line` is then a line of the PTX until it is mapped
};

std::vector<Diagnostic> parse_log(std::string_view log);

// Bytes of UTF-8 counted as characters.
std::size_t characters(std::string_view bytes);

// "file:line:column: error: message"
std::string headline(const Diagnostic& diagnostic);
// The headline's rest: notes, source line and caret, a line each, without a final newline.
std::string body(const Diagnostic& diagnostic);

}  // namespace tma_jit::compile

// The compiler's and the assembler's messages as structs, parsed from EDG's format (`file(line): error: text`, notes,
// the source line and a caret) and ptxas's (`ptxas fatal   : text`).
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
  int column = 0;      // 1-based, in characters; 0 if unknown
  std::string number;  // "177-D", "C7510"
  std::string message;
  std::string source;              // the source line; "" if unknown
  std::vector<std::string> notes;  // further lines of the message
  bool assembler = false;          // from ptxas; `line` is then a line of the PTX until it is mapped
  bool summary = false;            // says only that there were errors, as the last line of ptxas does
};

std::vector<Diagnostic> parse_log(std::string_view log);

// Returns the number of characters in UTF-8 text.
std::size_t characters(std::string_view bytes);

// Returns "file:line:column: error: message".
std::string headline(const Diagnostic& diagnostic);
// Returns the lines after the headline: notes, source line and caret, without a final newline.
std::string body(const Diagnostic& diagnostic);

}  // namespace tma_jit::compile

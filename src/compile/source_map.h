// From what the compiler names (a file it was told by #line, a line of the PTX) to the text a person wrote.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <tma_jit/artifact.h>

#include "compile/diagnostic.h"

namespace tma_jit::compile {

class SourceMap {
 public:
  explicit SourceMap(const Source& source);

  // Keeps a position in a hook inside the user's text: what closes the hook after it is not theirs.
  void settle(Diagnostic& diagnostic) const;

  // Gives a ptxas diagnostic the template's line, by the .loc above the PTX line; `ptx` was made with -lineinfo.
  void place(Diagnostic& diagnostic, std::string_view ptx) const;

 private:
  std::string_view line_of(std::string_view file, int line) const;
  std::string known_file(std::string_view path) const;

  std::map<std::string, std::string_view, std::less<>> texts_;  // by the name the compiler uses
};

}  // namespace tma_jit::compile

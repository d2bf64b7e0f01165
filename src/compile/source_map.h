// Maps the compiler's positions (a file named by #line, a line of the PTX) to the text that a person wrote.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>

#include <tma_jit/artifact.h>

#include "compile/diagnostic.h"

namespace tma_jit::compile {

class SourceMap {
 public:
  explicit SourceMap(const Source& source);

  // Keeps a position in a hook within the user's text, without the text that emission adds before and after. The line
  // shown is the user's own.
  void settle(Diagnostic& diagnostic) const;

  // Gives a ptxas diagnostic the template's line, from the .loc above the PTX line; `ptx` must have been compiled with
  // -lineinfo.
  void place(Diagnostic& diagnostic, std::string_view ptx) const;

  // Returns the PTX with file names as in the source: the compiler puts its working folder before relative ones.
  std::string with_own_names(std::string ptx) const;

 private:
  std::string_view line_of(std::string_view file, int line) const;
  std::string known_file(std::string_view path) const;

  std::map<int, std::string> openings_;                         // hooks by the preamble's line before the text
  std::map<std::string, std::string_view, std::less<>> texts_;  // by the name that the compiler uses
  std::deque<std::string> hooks_;                               // as the user wrote them; views in texts_ refer to
                                                                // these
};

}  // namespace tma_jit::compile

// From what the compiler names (a file named by #line, a line of the PTX) to the text a person wrote.
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

  // Keeps a position in a hook inside the user's text: what closes the hook after it is not theirs. The line shown is
  // as the user wrote it.
  void settle(Diagnostic& diagnostic) const;

  // Gives a ptxas diagnostic the template's line, by the .loc above the PTX line; `ptx` was made with -lineinfo.
  void place(Diagnostic& diagnostic, std::string_view ptx) const;

  // The PTX with names of files as the source has them: the compiler writes its working folder before relative ones.
  std::string with_own_names(std::string ptx) const;

 private:
  std::string_view line_of(std::string_view file, int line) const;
  std::string known_file(std::string_view path) const;

  std::map<std::string, std::string_view, std::less<>> texts_;  // by the name the compiler uses
  std::deque<std::string> hooks_;                               // as the user wrote them; views in texts_ show these
};

}  // namespace tma_jit::compile

// The closed set of headers of a translation unit: those that its #includes reach, and no others.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

namespace tma_jit::source {

// Returns the text of a header by its name in an #include, e.g. "device/ptx/tma.cuh"; fails (not_found) if there is
// none.
using HeaderLookup = std::function<Result<std::string>(std::string_view name)>;

// A text from which the search starts, and its name in errors.
struct Root {
  std::string_view file;
  std::string_view text;
};

// Returns the transitive closure over #includes, sorted by name. A quoted name that is found only in its includer's
// folder ("types.cuh" in device/ptx/tma.cuh) becomes a header that includes the full name, since NVRTC's virtual
// headers have no folders. A name that is not found in angle brackets or in an __has_include is left to the compiler,
// which has no folder to search and does not find it either. Fails with parse, as "FILE:LINE: refused: ...", on what
// preprocessor_lines.h refuses, so that the set contains everything that the compiler can open.
[[nodiscard]] Result<std::vector<Header>> reachable_headers(const std::vector<Root>& roots, const HeaderLookup& lookup);

}  // namespace tma_jit::source

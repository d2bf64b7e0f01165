// The closed set of headers a translation unit may include: whatever its #includes reach, and nothing else.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

namespace tma_jit::source {

// The text of a header by the name an #include gives it, e.g. "device/ptx/tma.cuh"; not_found where there is none.
using HeaderLookup = std::function<Result<std::string>(std::string_view name)>;

// A text to start from: what errors call it, and its bytes.
struct Root {
  std::string_view file;
  std::string_view text;
};

// The transitive closure over #includes, sorted by name. A quoted name that is found only beside its includer
// ("types.cuh" in device/ptx/tma.cuh) becomes a header that includes the full name, since NVRTC's virtual headers know
// no folders. A name in angle brackets or in an __has_include that is not found is left to the compiler, which has no
// folder to search and does not find it either. Fails with parse, as "FILE:LINE: refused: ...", on what
// preprocessor_lines.h refuses, so that the set holds all that the compiler can open.
[[nodiscard]] Result<std::vector<Header>> reachable_headers(const std::vector<Root>& roots, const HeaderLookup& lookup);

}  // namespace tma_jit::source

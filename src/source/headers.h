// The closed set of headers a translation unit may include: whatever its quoted #includes reach, and nothing else.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

namespace tma_jit::emission {

// The text of a header by the name an #include gives it, e.g. "device/tma.cuh"; not_found where there is none.
using HeaderLookup = std::function<Result<std::string>(std::string_view name)>;

// A text to start from: what errors call it, and its bytes.
struct Root {
  std::string_view file;
  std::string_view text;
};

// The transitive closure over quoted #includes, sorted by name. A name that is found only beside its includer
// ("types.cuh" in device/tma.cuh) becomes a header that includes the full name, since NVRTC's virtual headers know no
// folders. #include <...> is left to the compiler.
Result<std::vector<Header>> reachable_headers(const std::vector<Root>& roots, const HeaderLookup& lookup);

}  // namespace tma_jit::emission

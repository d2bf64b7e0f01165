// Which build of NVRTC lies in a file, read from it and its builtins without loading them.
#pragma once

#include <filesystem>
#include <string>

#include <tma_jit/error.h>

#include "compile/release.h"

namespace tma_jit::compile {

// `release` is the newest of the builtins beside the library, and unknown if there are none; `ids` are the GNU
// build ids of the library and of those builtins.
struct NvrtcBuild {
  Release release;
  std::string ids;
};

// Reads `library`, a path without links. A process reads the same files once: the answer is kept while they, and the
// folder in which builtins are looked for, are unchanged. Thread-safe. Fails (io) if the library cannot be read.
[[nodiscard]] Result<NvrtcBuild> nvrtc_build(const std::filesystem::path& library);

}  // namespace tma_jit::compile

// The location of the user's cache, by the XDG base directory specification.
#pragma once

#include <filesystem>

#include "base/environment.h"

namespace tma_jit::cache {

// Returns $TMA_JIT_CACHE_DIR, $XDG_CACHE_HOME/tma-jit or ~/.cache/tma-jit; empty in a program with raised privileges.
[[nodiscard]] std::filesystem::path default_folder(const ProcessEnvironment& environment);

}  // namespace tma_jit::cache

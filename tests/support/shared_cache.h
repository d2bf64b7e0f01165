// The folder of compiled kernels that all tests share, which CTest names: a kernel is compiled in the first test that
// needs it, and again only when its key changes.
#pragma once

#include <cstdlib>

namespace tma_jit::testing {

// Whether the environment names that folder, from where engines take it. A test that somebody starts by hand leaves the
// user's own cache alone.
inline bool has_shared_cache() {
  return std::getenv("TMA_JIT_CACHE_DIR") != nullptr;
}

}  // namespace tma_jit::testing

// The library's version.
#pragma once

#include <string>

#include <tma_jit/export.h>

namespace tma_jit {

struct Version {
  std::string library{};  // "0.1.0"
  std::string commit{};   // of the sources, with "-dirty" if they were changed after it; empty: unknown
  int cache_format = 0;   // of cache entries; an entry of another format is a miss
};

TMA_JIT_API Version version();

}  // namespace tma_jit

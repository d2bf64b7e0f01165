#include <tma_jit/version.h>

#include "cache/entry.h"
#include "engine/commit.h"

namespace tma_jit {

Version version() {
  return {.library = TMA_JIT_PROJECT_VERSION_TEXT, .commit = kCommit, .cache_format = cache::kEntryFormat};
}

}  // namespace tma_jit

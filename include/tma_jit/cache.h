// The cache folder as a thing of its own, for tools: count, verify, clear.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit {

struct CacheEntryInfo {
  std::string key;  // hex
  std::string kernel, arch;
  std::uint64_t bytes = 0;
  std::string fault;  // empty: sound
};

struct CacheSummary {
  std::filesystem::path root;
  std::uint64_t entries = 0, bytes = 0;
  std::uint64_t faulty = 0;           // of these, what type, owner, mode or size already give away
  std::uint64_t temporary_files = 0;  // being written, or left by a process that died while writing
};

// $TMA_JIT_CACHE_DIR, else $XDG_CACHE_HOME/tma-jit, else ~/.cache/tma-jit. Empty where none is to be had, and in a
// set-user-id process, whose environment is not to be believed.
TMA_JIT_API std::filesystem::path default_cache_dir();
// Looks at every entry without reading it. A folder that is not there yet is an empty cache.
TMA_JIT_API Result<CacheSummary> cache_stat(const std::filesystem::path& root);
// Reads every entry whole; faulty ones are listed, none is removed.
TMA_JIT_API Result<std::vector<CacheEntryInfo>> cache_verify(const std::filesystem::path& root);
// Removes entries and temporary files, nothing else; returns how many. Safe beside running processes.
TMA_JIT_API Result<std::uint64_t> cache_clear(const std::filesystem::path& root);

}  // namespace tma_jit

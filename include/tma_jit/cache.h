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
  std::uint64_t entries = 0, bytes = 0, faulty = 0, temporary_files = 0;
};

TMA_JIT_API std::filesystem::path default_cache_dir();
TMA_JIT_API Result<CacheSummary> cache_stat(const std::filesystem::path& root);
// Reads every entry whole; faulty ones are listed, none is removed.
TMA_JIT_API Result<std::vector<CacheEntryInfo>> cache_verify(const std::filesystem::path& root);
// Removes entries and temporary files, nothing else; returns how many. Safe beside running processes.
TMA_JIT_API Result<std::uint64_t> cache_clear(const std::filesystem::path& root);

}  // namespace tma_jit

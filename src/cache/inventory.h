// What the tools' functions on folders and packs share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/cache.h>

#include "cache/entry.h"

namespace tma_jit::cache {

struct Item {
  std::filesystem::path path;
  std::optional<Key> key;  // absent for a temporary file
};

// Returns the entries and temporary files of a trusted folder; files of others are neither counted nor removed. Empty
// if the folder does not exist.
[[nodiscard]] Result<std::vector<Item>> items_in(const std::filesystem::path& root);

// Returns what tools show of an entry, or of the fault that makes it unusable.
CacheEntryInfo describe(const Key& key, std::uint64_t bytes, const tl::expected<Entry, Fault>& entry);

// The bytes of an entry file and its time of last use, checked as far as possible without its key.
struct Found {
  CacheEntryInfo info;
  std::optional<Entry> entry;
};
Found find(const std::filesystem::path& path, const Key& key);

}  // namespace tma_jit::cache

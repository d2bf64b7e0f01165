// What the tools' functions share.
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
  std::optional<Key> key;  // none: a temporary file
};

// Entries and temporary files of a trusted folder; what somebody else put there is not ours to count or remove. None
// where there is no folder yet.
[[nodiscard]] Result<std::vector<Item>> items_in(const std::filesystem::path& root);

// What tools show of an entry, or of the fault that keeps it from being one.
CacheEntryInfo describe(const Key& key, std::uint64_t bytes, const tl::expected<Entry, Fault>& entry);

// The bytes of an entry file, and when it was used; checked as far as they can be without its key.
struct Found {
  CacheEntryInfo info;
  std::optional<Entry> entry;
};
Found find(const std::filesystem::path& path, const Key& key);

}  // namespace tma_jit::cache

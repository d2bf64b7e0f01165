// What the tools' functions on folders and packs share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/cache.h>

#include "base/descriptor.h"
#include "cache/entry.h"

namespace tma_jit::cache {

struct Item {
  std::string name;        // relative to the root: "v1/ab/<62 hex>"
  std::optional<Key> key;  // absent for a temporary file
};

// The entries and temporary files of a trusted folder; files of others are not among them. The folder is held open:
// what was listed is what is read and removed, and no link leads out of it, whatever is renamed meanwhile.
struct Inventory {
  Descriptor folder{};  // none if the folder does not exist
  std::vector<Item> items{};
};
[[nodiscard]] Result<Inventory> inventory_of(const std::filesystem::path& root);

// Returns what tools show of an entry, or of the fault that makes it unusable.
CacheEntryInfo describe(const Key& key, std::uint64_t bytes, const tl::expected<Entry, Fault>& entry);

// The bytes of an entry file and its time of last use, checked as far as possible without its key.
struct Found {
  CacheEntryInfo info;
  std::optional<Entry> entry;
};
Found find(const Inventory& inventory, const Item& item);

}  // namespace tma_jit::cache

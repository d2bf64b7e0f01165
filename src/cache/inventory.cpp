// The cache folder seen by tools: what is in it, whether it is sound, and emptying it.
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <tma_jit/cache.h>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/failure.h"
#include "cache/folder.h"
#include "cache/reading.h"
#include "cache/root.h"

namespace tma_jit {
namespace {

struct Item {
  std::filesystem::path path;
  std::optional<Key> key;  // none: a temporary file
};

// Entries and temporary files; what somebody else put there is not ours to count or remove.
std::vector<Item> items_in(const std::filesystem::path& root) {
  std::vector<Item> items;
  const auto add = [&](const std::filesystem::path& folder, auto&& key_of) {
    for (const std::string& name : cache::names_in(folder)) {
      const std::optional<Key> key = key_of(name);
      if (key || name.starts_with(cache::kTemporaryPrefix)) items.push_back({folder / name, key});
    }
  };
  for (unsigned shard = 0; shard < cache::kShards; ++shard) {
    add(cache::shard_folder(root, shard), [&](std::string_view name) { return cache::key_named(shard, name); });
  }
  const auto no_key = [](std::string_view) { return std::optional<Key>(); };
  add(cache::compilers_folder(root), no_key);
  add(root, no_key);
  return items;
}

// The items, or none where there is no folder yet.
Result<std::vector<Item>> trusted_items(const std::filesystem::path& root) {
  if (::access(root.c_str(), F_OK) != 0 && errno == ENOENT) return std::vector<Item>();
  TMA_JIT_CHECK(cache::check_trusted(root));
  return items_in(root);
}

bool looks_faulty(const struct stat& status) {
  const auto size = static_cast<std::size_t>(status.st_size);
  return cache::refusal(status, cache::kEntryBytesMax) || size < cache::kEntryHeaderBytes + cache::kEntryTrailerBytes;
}

std::string text_at(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

CacheEntryInfo verify(const std::filesystem::path& path, const Key& key) {
  CacheEntryInfo info;
  info.key = to_hex(key.bytes);
  const auto file = cache::read_trusted(cache::Files::system(), AT_FDCWD, path.c_str(), {});
  if (!file) {
    info.fault = fmt::format("{}: {}", cache::name_of(file.error().reason), file.error().detail);
    return info;
  }
  info.bytes = file->bytes.size();
  const auto entry = cache::decode(file->bytes, key);
  if (!entry) {
    info.fault = fmt::format("{}: {}", cache::name_of(entry.error().reason), entry.error().detail);
    return info;
  }
  const auto metadata = nlohmann::json::parse(entry->metadata, nullptr, false);
  if (!metadata.is_object()) return info;
  info.kernel = text_at(metadata, "kernel");
  info.arch = text_at(metadata, "arch");
  return info;
}

}  // namespace

Result<CacheSummary> cache_stat(const std::filesystem::path& root) {
  CacheSummary summary{.root = root};
  TMA_JIT_ASSIGN(const auto items, trusted_items(root));
  for (const Item& item : items) {
    struct stat status {};
    if (::lstat(item.path.c_str(), &status) != 0) continue;  // removed since
    summary.bytes += static_cast<std::uint64_t>(status.st_size);
    summary.temporary_files += item.key ? 0 : 1;
    summary.entries += item.key ? 1 : 0;
    summary.faulty += item.key && looks_faulty(status) ? 1 : 0;
  }
  return summary;
}

Result<std::vector<CacheEntryInfo>> cache_verify(const std::filesystem::path& root) {
  TMA_JIT_ASSIGN(const auto items, trusted_items(root));
  std::vector<CacheEntryInfo> entries;
  for (const Item& item : items) {
    if (item.key) entries.push_back(verify(item.path, *item.key));
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return entries;
}

Result<std::uint64_t> cache_clear(const std::filesystem::path& root) {
  TMA_JIT_ASSIGN(const auto items, trusted_items(root));
  std::uint64_t removed = 0;
  std::string failed;
  for (const Item& item : items) {
    if (::unlink(item.path.c_str()) == 0) {
      ++removed;
    } else if (errno != ENOENT) {
      failed = fmt::format("{}: {}", item.path.string(), std::strerror(errno));
    }
  }
  if (!failed.empty()) return failure(ErrorCode::io, "cannot clear the cache: removed {}, but not {}", removed, failed);
  return removed;
}

}  // namespace tma_jit

// Operations of tools on a cache folder: list, verify, trim and clear.
#include "cache/inventory.h"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/json_text.h"
#include "cache/crash_files.h"
#include "cache/folder.h"
#include "cache/pack.h"
#include "cache/publish.h"
#include "cache/reading.h"
#include "cache/root.h"
#include "cache/sweep.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

// Age at which a temporary file counts as abandoned although its writer may run elsewhere: a write takes less than a
// second, but two containers may have the same host name and separate process ids.
constexpr std::int64_t kDeadWriterSeconds = 60;

bool looks_faulty(const struct stat& status) {
  const auto size = static_cast<std::size_t>(status.st_size);
  return cache::refusal(status, cache::kEntryBytesMax) || size < cache::kEntryHeaderBytes + cache::kEntryTrailerBytes;
}

// Returns errno, or 0. A folder in an entry's place is removed with what is in it.
int remove_whole(const cache::FileSystem& files, int folder, const std::string& name) {
  if (files.remove(folder, name.c_str()) == 0) return 0;
  if (errno != EISDIR) return errno;
  for (const std::string& inner : cache::names_in(files, folder, name.c_str())) {
    (void)remove_whole(files, folder, fmt::format("{}/{}", name, inner));
  }
  return files.remove_folder(folder, name.c_str()) == 0 ? 0 : errno;
}

std::string text_at(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_pack(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

Result<std::unique_ptr<cache::Pack>> open_pack(const std::filesystem::path& path,
                                               const cache::PackPolicy& policy = {}) {
  return cache::Pack::open(path, cache::FileSystem::system(), policy);
}

cache::Found found_in(const cache::Pack& pack, const cache::PackRecord& record) {
  const Key key{record.key};
  auto entry = pack.read(record).and_then(
      [&](const std::vector<std::byte>& bytes) { return cache::decode(bytes, key, cache::Depth::all); });
  cache::Found found{cache::describe(key, record.bytes, entry), {}};
  if (entry) found.entry = std::move(*entry);
  return found;
}

Result<std::vector<CacheEntryInfo>> verify_pack(const std::filesystem::path& path,
                                                const std::vector<std::filesystem::path>& keys) {
  cache::PackPolicy policy;
  if (!keys.empty()) {
    TMA_JIT_ASSIGN(policy, cache::read_pack_policy(keys));
  }
  TMA_JIT_ASSIGN(const auto pack, open_pack(path, policy));
  std::vector<CacheEntryInfo> entries;
  for (const cache::PackRecord& record : pack->index().records) entries.push_back(found_in(*pack, record).info);
  return entries;
}

Result<CacheEntry> only_one(std::vector<cache::Found> found, std::string_view prefix, const std::string& place) {
  if (found.empty()) return failure(ErrorCode::not_found, "{} has no entry whose key starts with {}", place, prefix);
  if (found.size() > 1) {
    return failure(ErrorCode::invalid_argument,
                   "{} entries of {} have keys that start with {}; give more digits of one", found.size(), place,
                   prefix);
  }
  cache::Found& one = found.front();
  if (!one.entry) return failure(ErrorCode::io, "cache entry {}: {}", one.info.key, one.info.fault);
  return CacheEntry{std::move(one.info), std::move(one.entry->cubin)};
}

}  // namespace

namespace cache {

Result<Inventory> inventory_of(const std::filesystem::path& root) {
  const FileSystem& files = FileSystem::system();
  Inventory inventory;
  TMA_JIT_ASSIGN(inventory.folder, open_trusted(files, root));
  if (!inventory.folder) return inventory;
  const auto add = [&](const std::string& folder) {
    const std::string last = folder.substr(folder.rfind('/') + 1);
    for (const std::string& name : names_in(files, inventory.folder.get(), folder.c_str())) {
      const std::optional<Key> key = key_named(last, name);
      if (key || is_temporary(name)) inventory.items.push_back({fmt::format("{}/{}", folder, name), key});
    }
  };
  for (unsigned shard = 0; shard < kShards; ++shard) add(fmt::format("{}/{}", kFormatName, shard_name(shard)));
  add(fmt::format("{}/{}", kFormatName, kCompilersName));
  add(kFormatName);
  add(".");
  return inventory;
}

CacheEntryInfo describe(const Key& key, std::uint64_t bytes, const tl::expected<Entry, Fault>& entry) {
  CacheEntryInfo info;
  info.key = to_hex(key.bytes);
  info.bytes = bytes;
  if (!entry) {
    info.fault = fmt::format("{}: {}", name_of(entry.error().reason), entry.error().detail);
    return info;
  }
  if (is_too_deep(entry->metadata)) {
    info.fault = fmt::format("{}: metadata of more than {} levels", name_of(MissReason::format), kJsonDepthMax);
    return info;
  }
  info.metadata = entry->metadata;
  const auto metadata =
      read_json<nlohmann::json>(std::string_view(entry->metadata).substr(0, entry->metadata.find('\n')));
  if (!metadata || !metadata->is_object()) return info;
  info.kernel = text_at(*metadata, "kernel");
  info.arch = text_at(*metadata, "arch");
  return info;
}

Found find(const Inventory& inventory, const Item& item) {
  const Key& key = *item.key;
  const auto file = read_trusted(FileSystem::system(), inventory.folder.get(), item.name.c_str(), {});
  if (!file) return {describe(key, 0, tl::make_unexpected(Fault(file.error()))), {}};
  auto entry = decode(file->bytes, key, Depth::all);
  Found found{describe(key, file->bytes.size(), entry), {}};
  found.info.used_s = file->modified;
  if (entry) found.entry = std::move(*entry);
  return found;
}

}  // namespace cache

Result<CacheSummary> cache_stat(const std::filesystem::path& root) {
  CacheSummary summary{.root = root};
  TMA_JIT_ASSIGN(const auto inventory, cache::inventory_of(root));
  for (const cache::Item& item : inventory.items) {
    struct stat status {};
    if (cache::FileSystem::system().stat_at(inventory.folder.get(), item.name.c_str(), status) != 0)
      continue;  // removed meanwhile
    summary.bytes += static_cast<std::uint64_t>(status.st_size);
    summary.temporary_files += item.key ? 0 : 1;
    summary.entries += item.key ? 1 : 0;
    summary.faulty += item.key && looks_faulty(status) ? 1 : 0;
  }
  return summary;
}

Result<std::vector<CacheEntryInfo>> cache_verify(const std::filesystem::path& folder_or_pack,
                                                 const std::vector<std::filesystem::path>& pack_keys) {
  if (is_pack(folder_or_pack)) return verify_pack(folder_or_pack, pack_keys);
  TMA_JIT_ASSIGN(const auto inventory, cache::inventory_of(folder_or_pack));
  std::vector<CacheEntryInfo> entries;
  for (const cache::Item& item : inventory.items) {
    if (item.key) entries.push_back(cache::find(inventory, item).info);
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  return entries;
}

Result<CacheEntry> cache_read(const std::filesystem::path& folder_or_pack, std::string_view key_prefix) {
  std::vector<cache::Found> found;
  const auto wanted = [&](const auto& key) { return to_hex(key).starts_with(key_prefix); };
  if (is_pack(folder_or_pack)) {
    TMA_JIT_ASSIGN(const auto pack, open_pack(folder_or_pack));
    for (const cache::PackRecord& record : pack->index().records) {
      if (wanted(record.key)) found.push_back(found_in(*pack, record));
    }
  } else {
    TMA_JIT_ASSIGN(const auto inventory, cache::inventory_of(folder_or_pack));
    for (const cache::Item& item : inventory.items) {
      if (item.key && wanted(item.key->bytes)) found.push_back(cache::find(inventory, item));
    }
  }
  return only_one(std::move(found), key_prefix, folder_or_pack.string());
}

Result<std::uint64_t> cache_clear(const std::filesystem::path& root) {
  const cache::FileSystem& files = cache::FileSystem::system();
  TMA_JIT_ASSIGN(const auto inventory, cache::inventory_of(root));
  const int folder = inventory.folder.get();
  std::uint64_t removed = cache::clear_crashes(files, folder);
  std::string failed;
  for (const cache::Item& item : inventory.items) {
    if (const int error = remove_whole(files, folder, item.name); error == 0) {
      ++removed;
    } else if (error != ENOENT) {
      failed = fmt::format("{}: {}", (root / item.name).string(), std::strerror(error));
    }
  }
  (void)files.remove(folder, fmt::format("{}/{}", cache::kFormatName, cache::kIndexName).c_str());
  if (!failed.empty()) return failure(ErrorCode::io, "cannot clear the cache: removed {}, but not {}", removed, failed);
  return removed;
}

Result<CacheTrimmed> cache_trim(const std::filesystem::path& root, std::uint64_t bytes, std::uint64_t entries) {
  if (::access(root.c_str(), F_OK) != 0 && errno == ENOENT) return CacheTrimmed{};
  const cache::FileSystem& files = cache::FileSystem::system();
  TMA_JIT_ASSIGN(const cache::Root opened, cache::open_existing_root(files, root));
  cache::Limits limits{.bytes = bytes, .entries = entries, .youngest_s = 0};
  limits.dead_writer_s = kDeadWriterSeconds;
  const int folder = opened.folder.get();
  const cache::Swept swept = cache::sweep_all({files, folder, cache::clock_of(files, folder)}, limits);
  const std::uint64_t left = swept.entries - swept.removed, left_bytes = swept.bytes - swept.removed_bytes;
  if (swept.error != 0 && (left > entries || left_bytes > bytes)) {
    return failure(ErrorCode::io, "cannot trim the cache {}: removed {}, and {} entries of {} bytes are left: {}",
                   root.string(), swept.removed, left, left_bytes, std::strerror(swept.error));
  }
  return CacheTrimmed{swept.entries, swept.bytes, swept.removed, swept.removed_bytes, swept.temporaries};
}

}  // namespace tma_jit

#include "cache/sweep.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/folder.h"
#include "cache/reading.h"

namespace tma_jit::cache {
namespace {

constexpr unsigned kShardsASweep = 8;
// Assumed age of a file whose time is in the future: slightly more than just used.
constexpr std::time_t kUnknownUseSeconds = 2 * kUseSeconds;
constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

struct StoredFile {
  std::string path;  // "ab/<62 hex>"
  std::uint64_t bytes = 0;
  std::time_t used = 0;
  ino_t inode = 0;
};

struct Shard {
  std::vector<StoredFile> entries, temporaries;
};

// Returns when a file counts as used; corrects a time in the future.
std::time_t used_at(const OpenRoot& root, const char* path, std::time_t modified) {
  if (modified <= root.now + kUseSeconds) return modified;
  const std::time_t before = root.now - kUnknownUseSeconds;
  return root.files.set_time(root.folder, path, before) == 0 ? before : modified;
}

// Lists a shard, or another folder, which has no entries.
Shard list(const OpenRoot& root, const std::string& name) {
  Shard shard;
  const int opened = root.files.open(root.folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (opened < 0) return shard;
  const std::unique_ptr<DIR, int (*)(DIR*)> items(::fdopendir(opened), ::closedir);
  if (!items) {
    ::close(opened);
    return shard;
  }
  while (const dirent* item = ::readdir(items.get())) {
    const std::string_view file = item->d_name;
    const bool temporary = is_temporary(file);
    if (!temporary && !key_named(name, file)) continue;
    StoredFile found{name + "/" + std::string(file)};
    struct stat status {};
    if (root.files.stat_at(opened, item->d_name, status) != 0) continue;
    found.bytes = static_cast<std::uint64_t>(status.st_size);
    found.used = used_at(root, found.path.c_str(), status.st_mtime);
    found.inode = status.st_ino;
    (temporary ? shard.temporaries : shard.entries).push_back(std::move(found));
  }
  return shard;
}

// Leaves the file unchanged if the name now refers to another file or it was used since. A folder in a file's place is
// removed if it is empty.
bool remove_unchanged(const OpenRoot& root, const StoredFile& file) {
  struct stat status {};
  if (root.files.stat_at(root.folder, file.path.c_str(), status) != 0) return false;
  if (status.st_ino != file.inode || status.st_mtime != file.used) return false;
  if (S_ISDIR(status.st_mode)) return root.files.remove_folder(root.folder, file.path.c_str()) == 0;
  return root.files.remove(root.folder, file.path.c_str()) == 0;
}

bool is_stale(const StoredFile& file, std::time_t now, const Limits& limits) {
  const auto age = static_cast<std::int64_t>(now - file.used);
  const auto writer = local_writer(file.path.substr(file.path.rfind('/') + 1));
  const bool dead = writer && ::kill(*writer, 0) != 0 && errno == ESRCH;
  return age >= (dead ? limits.dead_writer_s : limits.unknown_writer_s);
}

std::uint64_t sweep_temporaries(const OpenRoot& root, const Shard& shard, const Limits& limits) {
  std::uint64_t removed = 0;
  for (const StoredFile& file : shard.temporaries) {
    if (is_stale(file, root.now, limits) && remove_unchanged(root, file)) ++removed;
  }
  return removed;
}

// Removes what dead writers left outside the shards. In the root, above the format's folder, nothing is published.
std::uint64_t sweep_others(const OpenRoot& root, const Limits& limits) {
  std::uint64_t removed = 0;
  for (const std::string& folder : {std::string("."), std::string(kCompilersName)})
    removed += sweep_temporaries(root, list(root, folder), limits);
  return removed;
}

// Removes the oldest first until both limits hold.
Swept sweep_entries(const OpenRoot& root, std::vector<StoredFile>& entries, const Limits& limits, ShardLimits keep) {
  Swept swept{.entries = entries.size()};
  for (const StoredFile& file : entries) swept.bytes += file.bytes;
  std::sort(entries.begin(), entries.end(), [](const StoredFile& a, const StoredFile& b) { return a.used < b.used; });
  for (const StoredFile& file : entries) {
    if (swept.bytes - swept.removed_bytes <= keep.bytes && swept.entries - swept.removed <= keep.entries) break;
    if (limits.youngest_s > 0 && root.now - file.used < limits.youngest_s) break;
    errno = 0;
    if (!remove_unchanged(root, file)) {
      if (errno != 0 && errno != ENOENT) swept.error = errno;
      continue;
    }
    ++swept.removed;
    swept.removed_bytes += file.bytes;
  }
  return swept;
}

unsigned random_number() {
  thread_local std::minstd_rand numbers{std::random_device()()};
  return static_cast<unsigned>(numbers());
}

}  // namespace

Swept sweep_shard(const OpenRoot& root, unsigned shard, const Limits& limits, ShardLimits keep) {
  Shard found = list(root, shard_name(shard));
  Swept swept = sweep_entries(root, found.entries, limits, keep);
  swept.temporaries = sweep_temporaries(root, found, limits);
  return swept;
}

Swept sweep_all(const OpenRoot& root, const Limits& limits) {
  std::uint64_t temporaries = sweep_others(root, limits);
  std::vector<StoredFile> entries;
  for (unsigned number = 0; number < kShards; ++number) {
    Shard shard = list(root, shard_name(number));
    temporaries += sweep_temporaries(root, shard, limits);
    std::move(shard.entries.begin(), shard.entries.end(), std::back_inserter(entries));
  }
  Swept swept = sweep_entries(root, entries, limits, {limits.bytes, limits.entries});
  swept.temporaries = temporaries;
  return swept;
}

bool Sweeper::is_over(const Limits& limits) const {
  std::uint64_t bytes = 0, entries = 0, known = 0;
  for (const Seen& shard : seen_) {
    bytes += shard.bytes;
    entries += shard.entries;
    known += shard.known ? 1 : 0;
  }
  return bytes * kShards / known > limits.bytes || entries * kShards / known > limits.entries;
}

Swept Sweeper::sweep(const OpenRoot& root, const Limits& limits) {
  unsigned start = kStart;
  next_.compare_exchange_strong(start, random_number() % kShards);
  const unsigned first = next_.fetch_add(kShardsASweep);
  const ShardLimits share{limits.bytes / kShards * 9 / 10, limits.entries * 9 / 10 / kShards};
  Swept all;
  for (unsigned i = 0; i < kShardsASweep; ++i) {
    const unsigned shard = (first + i) % kShards;
    if (shard == 0) all.temporaries += sweep_others(root, limits);
    Swept found = sweep_shard(root, shard, limits, {kAll, kAll});
    all.temporaries += found.temporaries;
    seen_[shard].known = true;
    seen_[shard].bytes = found.bytes;
    seen_[shard].entries = found.entries;
    if (!is_over(limits)) continue;
    found = sweep_shard(root, shard, limits, share);
    seen_[shard].bytes = found.bytes - found.removed_bytes;
    seen_[shard].entries = found.entries - found.removed;
    all.removed += found.removed;
    all.removed_bytes += found.removed_bytes;
  }
  return all;
}

}  // namespace tma_jit::cache

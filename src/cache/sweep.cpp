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

namespace tma_jit::cache {
namespace {

constexpr unsigned kShardsASweep = 8;
constexpr std::time_t kWeekSeconds = 604'800;
constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

struct Item {
  std::string path;  // "ab/<62 hex>"
  std::uint64_t bytes = 0;
  std::time_t used = 0;
  ino_t inode = 0;
};

struct Shard {
  std::vector<Item> entries, temporaries;
};

Shard list(const Files& files, int folder, unsigned number) {
  Shard shard;
  const std::string name = shard_name(number);
  const int opened = files.open(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (opened < 0) return shard;
  const std::unique_ptr<DIR, int (*)(DIR*)> items(::fdopendir(opened), ::closedir);
  if (!items) {
    ::close(opened);
    return shard;
  }
  while (const dirent* item = ::readdir(items.get())) {
    const std::string_view file = item->d_name;
    const bool temporary = file.starts_with(kTemporaryPrefix);
    if (!temporary && !key_named(number, file)) continue;
    Item found{name + "/" + std::string(file)};
    struct stat status {};
    if (files.stat_at(folder, found.path.c_str(), status) != 0) continue;
    found.bytes = static_cast<std::uint64_t>(status.st_size);
    found.used = status.st_mtime;
    found.inode = status.st_ino;
    (temporary ? shard.temporaries : shard.entries).push_back(std::move(found));
  }
  return shard;
}

// A name that now stands for another file, or for one that was used since, is left alone.
bool remove_unchanged(const Files& files, int folder, const Item& item) {
  struct stat status {};
  if (files.stat_at(folder, item.path.c_str(), status) != 0) return false;
  if (status.st_ino != item.inode || status.st_mtime != item.used) return false;
  return files.remove(folder, item.path.c_str()) == 0;
}

bool is_stale(const Item& item, std::time_t now, const Limits& limits) {
  const auto age = static_cast<std::int64_t>(now - item.used);
  const auto writer = local_writer(item.path.substr(item.path.rfind('/') + 1));
  const bool dead = writer && ::kill(*writer, 0) != 0 && errno == ESRCH;
  return age >= (dead ? limits.dead_writer_s : limits.unknown_writer_s);
}

// Ages by the newest file there: a server's clock may differ from this machine's.
std::time_t latest(const Shard& shard, std::time_t now) {
  for (const auto* items : {&shard.entries, &shard.temporaries}) {
    for (const Item& item : *items) now = std::max(now, std::min(item.used, now + kWeekSeconds));
  }
  return now;
}

std::uint64_t sweep_temporaries(const Files& files, int folder, const Shard& shard, const Limits& limits) {
  const std::time_t now = latest(shard, std::time(nullptr));
  std::uint64_t removed = 0;
  for (const Item& item : shard.temporaries) {
    if (is_stale(item, now, limits) && remove_unchanged(files, folder, item)) ++removed;
  }
  return removed;
}

// Oldest first, until both limits hold.
Swept sweep_entries(const Files& files, int folder, std::vector<Item>& entries, const Limits& limits,
                    ShardLimits keep) {
  Swept swept{.entries = entries.size()};
  for (const Item& item : entries) swept.bytes += item.bytes;
  std::sort(entries.begin(), entries.end(), [](const Item& a, const Item& b) { return a.used < b.used; });
  std::time_t now = std::time(nullptr);
  if (!entries.empty()) now = std::max(now, std::min(entries.back().used, now + kWeekSeconds));
  for (const Item& item : entries) {
    if (swept.bytes - swept.removed_bytes <= keep.bytes && swept.entries - swept.removed <= keep.entries) break;
    if (now - item.used < limits.youngest_s) break;
    if (!remove_unchanged(files, folder, item)) continue;
    ++swept.removed;
    swept.removed_bytes += item.bytes;
  }
  return swept;
}

unsigned random_number() {
  thread_local std::minstd_rand numbers{std::random_device()()};
  return static_cast<unsigned>(numbers());
}

}  // namespace

Swept sweep_shard(const Files& files, int folder, unsigned shard, const Limits& limits, ShardLimits keep) {
  Shard found = list(files, folder, shard);
  Swept swept = sweep_entries(files, folder, found.entries, limits, keep);
  swept.temporaries = sweep_temporaries(files, folder, found, limits);
  return swept;
}

Swept sweep_all(const Files& files, int folder, const Limits& limits) {
  std::uint64_t temporaries = 0;
  std::vector<Item> entries;
  for (unsigned number = 0; number < kShards; ++number) {
    Shard shard = list(files, folder, number);
    temporaries += sweep_temporaries(files, folder, shard, limits);
    std::move(shard.entries.begin(), shard.entries.end(), std::back_inserter(entries));
  }
  Swept swept = sweep_entries(files, folder, entries, limits, {limits.bytes, limits.entries});
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

Swept Sweeper::sweep(const Files& files, int folder, const Limits& limits) {
  unsigned start = kStart;
  next_.compare_exchange_strong(start, random_number() % kShards);
  const unsigned first = next_.fetch_add(kShardsASweep);
  const ShardLimits share{limits.bytes / kShards * 9 / 10, limits.entries * 9 / 10 / kShards};
  Swept all;
  for (unsigned i = 0; i < kShardsASweep; ++i) {
    const unsigned shard = (first + i) % kShards;
    Swept found = sweep_shard(files, folder, shard, limits, {kAll, kAll});
    all.temporaries += found.temporaries;
    seen_[shard].known = true;
    seen_[shard].bytes = found.bytes;
    seen_[shard].entries = found.entries;
    if (!is_over(limits)) continue;
    found = sweep_shard(files, folder, shard, limits, share);
    seen_[shard].bytes = found.bytes - found.removed_bytes;
    seen_[shard].entries = found.entries - found.removed;
    all.removed += found.removed;
    all.removed_bytes += found.removed_bytes;
  }
  return all;
}

}  // namespace tma_jit::cache

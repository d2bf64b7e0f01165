// Eviction: keeps a cache folder within its limits by removing the least recently used entries first. It needs no index
// or counter that could become wrong; a sample of a few shards estimates the size of all.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "cache/file_system.h"

namespace tma_jit::cache {

// A folder's <root>/v1 as an open descriptor, and the time of its file system's clock.
struct OpenRoot {
  const FileSystem& files;
  int folder;
  std::time_t now;
};

struct Limits {
  std::uint64_t bytes = std::uint64_t{2} << 30;
  std::uint64_t entries = 50'000;
  std::int64_t youngest_s = 600;       // entries used within this time stay; at least twice kUseSeconds, or 0
  std::int64_t dead_writer_s = 3'600;  // age at which a temporary file is removed whose process on this host has ended
  std::int64_t unknown_writer_s = 86'400;
};

struct Swept {
  std::uint64_t entries = 0, bytes = 0;  // found
  std::uint64_t removed = 0, removed_bytes = 0;
  std::uint64_t temporaries = 0;  // removed
  int error = 0;                  // errno of an entry that could not be removed; 0: none
};

// Removes stale temporary files of one shard, and the shard's oldest entries until `keep` is met. Files that are being
// written, or were used since they were listed, stay.
//
// A file with a time in the future was last used at an unknown time, because a clock was wrong or has been set back. It
// counts as used slightly before the files just used and is given that time, so that it ages from then on. The next hit
// sets its time correctly.
struct ShardLimits {
  std::uint64_t bytes = 0, entries = 0;
};
Swept sweep_shard(const OpenRoot& root, unsigned shard, const Limits& limits, ShardLimits keep);

// Sweeps all shards, removes the oldest entries of all of them first, and the stale temporary files of other folders.
Swept sweep_all(const OpenRoot& root, const Limits& limits);

// Visits the shards in turn, a few per call, other folders once a round, and remembers the shards' sizes. While the
// estimated total exceeds the limits, each visited shard is trimmed to 90 % of its share. Thread-safe.
class Sweeper {
 public:
  Swept sweep(const OpenRoot& root, const Limits& limits);

 private:
  struct Seen {
    std::atomic<std::uint64_t> bytes = 0, entries = 0;
    std::atomic<bool> known = false;
  };
  bool is_over(const Limits& limits) const;

  Seen seen_[256];
  std::atomic<unsigned> next_ = kStart;
  static constexpr unsigned kStart = ~0U;  // a random shard
};

}  // namespace tma_jit::cache

// Keeping a cache folder small: the entries used longest ago go first. No index and no counter that could be wrong; a
// look at a few shards at a time tells the size of all.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "cache/files.h"

namespace tma_jit::cache {

// A folder's <root>/v1, held open, and what its file system's clock says.
struct Place {
  const Files& files;
  int folder;
  std::time_t now;
};

struct Limits {
  std::uint64_t bytes = std::uint64_t{2} << 30;
  std::uint64_t entries = 50'000;
  std::int64_t youngest_s = 600;       // what was used within this time stays; at least twice kUseSeconds, or 0
  std::int64_t dead_writer_s = 3'600;  // age at which a temporary file goes whose process on this host is gone
  std::int64_t unknown_writer_s = 86'400;
};

struct Swept {
  std::uint64_t entries = 0, bytes = 0;  // found
  std::uint64_t removed = 0, removed_bytes = 0;
  std::uint64_t temporaries = 0;  // removed
};

// Removes stale temporary files of one shard, and the shard's oldest entries until `keep` is met. Files that are being
// written, or were used since they were listed, stay.
//
// A file whose time is yet to come was used at no time that can be known, by a clock that was wrong or went back since:
// it counts as used a little before what was just used, and is given that time, so that it ages from then on. What is
// used again has its time put right by the hit.
struct ShardLimits {
  std::uint64_t bytes = 0, entries = 0;
};
Swept sweep_shard(const Place& place, unsigned shard, const Limits& limits, ShardLimits keep);

// All shards, oldest first over all of them.
Swept sweep_all(const Place& place, const Limits& limits);

// Goes around the shards, a few at each call, and remembers what it saw. While all of them together seem to be over the
// limits, those it visits are trimmed to 90 % of their share. Thread-safe.
class Sweeper {
 public:
  Swept sweep(const Place& place, const Limits& limits);

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

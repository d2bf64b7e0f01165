// Keeping a cache folder small: the entries used longest ago go first. No index and no counter that could be wrong; a
// look at one shard in 256 tells the size of all.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "cache/files.h"

namespace tma_jit::cache {

struct Limits {
  std::uint64_t bytes = std::uint64_t{2} << 30;
  std::uint64_t entries = 50'000;
  std::int64_t youngest_s = 600;       // what was used within this time stays
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
struct ShardLimits {
  std::uint64_t bytes = 0, entries = 0;
};
Swept sweep_shard(const Files& files, int folder, unsigned shard, const Limits& limits, ShardLimits keep);

// All shards, oldest first over all of them.
Swept sweep_all(const Files& files, int folder, const Limits& limits);

// Looks at one random shard, and trims that shard to 90 % of its share when all shards together seem to be over the
// limits. Keeps the averages of the last eight looks.
class Sweeper {
 public:
  Swept sweep(const Files& files, int folder, const Limits& limits);

 private:
  static constexpr std::uint64_t kLooks = 8;
  std::atomic<std::uint64_t> bytes_[kLooks] = {};
  std::atomic<std::uint64_t> entries_[kLooks] = {};
  std::atomic<std::uint64_t> looks_ = 0;
};

}  // namespace tma_jit::cache

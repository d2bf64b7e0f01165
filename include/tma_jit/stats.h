// Counters of an engine, and why a kernel is, or is not, in its cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>

namespace tma_jit {

struct CacheStats {
  // Why entries that were there were not used; together Stats::disk_faults.
  std::uint64_t unreadable = 0, untrusted = 0, other_format = 0, corrupt = 0, wrong_key = 0;
  std::uint64_t healed = 0;                         // such entries replaced by a compile
  std::uint64_t node_hits = 0, read_only_hits = 0;  // of Stats::disk_hits
  std::uint64_t waits = 0;                          // for another process that compiled the same
  std::uint64_t wait_timeouts = 0;                  // of these, given up
  std::uint64_t lockless = 0;                       // compiles without a lock, for want of locks
  std::uint64_t evicted = 0;
};

// Counters since the engine was made.
struct Stats {
  std::uint64_t plans = 0;
  std::uint64_t compiles = 0;
  std::uint64_t compile_failures = 0;
  std::uint64_t memory_hits = 0;  // artifact already in this process
  std::uint64_t disk_hits = 0;
  std::uint64_t disk_misses = 0;
  std::uint64_t disk_faults = 0;  // entries that were there and not usable
  std::uint64_t disk_writes = 0;
  std::uint64_t disk_write_failures = 0;
  std::uint64_t loads = 0;  // artifacts loaded into the driver
  std::uint64_t workers_started = 0;
  std::uint64_t workers_lost = 0;     // to crashes, time and memory limits
  std::uint64_t crashes_avoided = 0;  // configurations passed over because they crash this compiler
  std::uint64_t sealed_misses = 0;    // compiles that a seal warned of or refused
  std::uint64_t misses_recorded = 0;
  double compile_ms = 0;
  CacheStats cache{};
};

// Why a kernel is, or is not, in the cache.
struct CacheDifference {
  std::string field{};          // "arch", a constant's name, "template", a header's name, "options" ...
  std::string here{}, there{};  // of the request and of the entry; digests of what is long, empty where there is none
};
struct CacheExplanation {
  Key key{};
  bool found = false;
  std::string where{};    // the folder or pack that has it
  std::string fault{};    // why an entry that is there is not used; empty: none is there, or it is used
  std::string nearest{};  // hex key of the entry of the same kernel that differs least; empty: there is none
  std::vector<CacheDifference> differences{};  // of that entry, the most telling first
};

}  // namespace tma_jit

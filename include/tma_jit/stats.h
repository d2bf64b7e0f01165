// An engine's counters, and the explanation why a kernel is or is not in its cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>

namespace tma_jit {

struct CacheStats {
  // Existing entries that were not used, by reason; their sum is Stats::disk_faults.
  std::uint64_t unreadable = 0, untrusted = 0, other_format = 0, corrupt = 0, wrong_key = 0;
  std::uint64_t healed = 0;                         // faulty entries replaced by a compile
  std::uint64_t node_hits = 0, read_only_hits = 0;  // parts of Stats::disk_hits
  std::uint64_t waits = 0;                          // for another process that compiled the same kernel
  std::uint64_t wait_timeouts = 0;                  // waits that ended without a result
  std::uint64_t lockless = 0;                       // compiles without a lock, because the file system has none
  std::uint64_t evicted = 0;
  std::uint64_t remote_hits = 0;             // a part of Stats::disk_hits
  std::uint64_t remote_misses = 0;           // the server answered that it has no such entry
  std::uint64_t remote_errors = 0;           // no answer, or none in time
  std::uint64_t remote_refused = 0;          // answers that are another entry, or lack the required signature
  std::uint64_t remote_skipped = 0;          // the server was not asked, because it had failed before
  std::uint64_t remote_uploads = 0;          // entries that the server took
  std::uint64_t remote_upload_failures = 0;  // entries that it refused, or that were not sent in time
  std::uint64_t remote_off = 0;              // 1 while the server is not asked, because it has failed
};

// Counts since the engine was created.
struct Stats {
  std::uint64_t plans = 0;
  std::uint64_t compiles = 0;
  std::uint64_t compile_failures = 0;
  std::uint64_t memory_hits = 0;  // artifacts already in this process
  std::uint64_t disk_hits = 0;
  std::uint64_t disk_misses = 0;
  std::uint64_t disk_faults = 0;  // entries that exist but are not usable
  std::uint64_t disk_writes = 0;
  std::uint64_t disk_write_failures = 0;
  std::uint64_t loads = 0;  // artifacts loaded into the driver
  std::uint64_t workers_started = 0;
  std::uint64_t workers_lost = 0;     // due to crashes, time limits and memory limits
  std::uint64_t crashes_avoided = 0;  // configurations passed over because they crash this compiler
  std::uint64_t sealed_misses = 0;    // compiles that a seal reported or refused
  std::uint64_t misses_recorded = 0;
  std::uint64_t problems_tuned = 0;     // by the policies at_start and background
  std::uint64_t launches_swapped = 0;   // shapes of Functions that use a faster configuration since their first call
  std::uint64_t tuning_failures = 0;    // problems whose tuning failed; they keep the planned configuration
  std::uint64_t tunings_undecided = 0;  // problems given up because the budget was used up, or times varied too much to
                                        // tell what is fastest; they keep the planned configuration, without a record
  double compile_ms = 0;
  CacheStats cache{};
};

// One field in which a request and a cache entry differ.
struct CacheDifference {
  std::string field{};          // "arch", a constant's name, "template", a header's name, "options" and others
  std::string here{}, there{};  // values of the request and of the entry; digests of long ones, empty if missing
};
struct CacheExplanation {
  Key key{};
  bool found = false;
  std::string where{};    // the folder or pack that contains it
  std::string fault{};    // why an existing entry is not used; empty if there is none or it is used
  std::string nearest{};  // hex key of the entry of the same kernel that differs least; empty if there is none
  std::vector<CacheDifference> differences{};  // from the nearest entry, the most informative first
};

}  // namespace tma_jit

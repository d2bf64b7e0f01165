// The counters behind Engine::stats.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <tma_jit/engine.h>

#include "cache/entry.h"

namespace tma_jit::engine {

struct Counters {
  using Count = std::atomic<std::uint64_t>;
  Count plans = 0, compiles = 0, compile_failures = 0, memory_hits = 0, loads = 0;
  Count disk_hits = 0, disk_misses = 0, disk_faults = 0, disk_writes = 0, disk_write_failures = 0;
  std::atomic<double> compile_ms = 0;
  std::array<Count, cache::kMissReasons> faults{};
  Count healed = 0;
  Count crashes_avoided = 0, sealed_misses = 0, misses_recorded = 0;
  Count problems_tuned = 0, launches_swapped = 0, tuning_failures = 0, tunings_undecided = 0;

  // Does not include the counts of the cache's layers.
  Stats snapshot() const {
    return Stats{.plans = plans,
                 .compiles = compiles,
                 .compile_failures = compile_failures,
                 .memory_hits = memory_hits,
                 .disk_hits = disk_hits,
                 .disk_misses = disk_misses,
                 .disk_faults = disk_faults,
                 .disk_writes = disk_writes,
                 .disk_write_failures = disk_write_failures,
                 .loads = loads,
                 .workers_started = 0,
                 .workers_lost = 0,
                 .crashes_avoided = crashes_avoided,
                 .sealed_misses = sealed_misses,
                 .misses_recorded = misses_recorded,
                 .problems_tuned = problems_tuned,
                 .launches_swapped = launches_swapped,
                 .tuning_failures = tuning_failures,
                 .tunings_undecided = tunings_undecided,
                 .compile_ms = compile_ms,
                 .cache = {.unreadable = fault(cache::MissReason::io),
                           .untrusted = fault(cache::MissReason::untrusted),
                           .other_format = fault(cache::MissReason::format),
                           .corrupt = fault(cache::MissReason::corrupt),
                           .wrong_key = fault(cache::MissReason::wrong_key),
                           .healed = healed}};
  }

 private:
  std::uint64_t fault(cache::MissReason reason) const { return faults[static_cast<std::size_t>(reason)]; }
};

}  // namespace tma_jit::engine

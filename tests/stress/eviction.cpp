// A folder beyond its limit, with readers and writers at work.
#include <chrono>
#include <random>

#include <tma_jit/cache.h>

#include "scenario.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {

void eviction(const Budget& budget, Report& report) {
  constexpr unsigned kProcesses = 8;
  const unsigned keys = budget.pick(4'000, 8'000), limit = keys / 4;
  const TemporaryFolder folder;
  const auto root = folder.path() / "cache";
  Counts& counts = shared_counts();
  const double seconds = budget.seconds > 0 ? budget.seconds : budget.pick(4, 600);
  const unsigned bad = run_together(kProcesses, counts, [&](unsigned process) {
    cache::LayerSettings settings = settings_for(root, counts);
    settings.store.limits.entries = limit;
    settings.store.limits.youngest_s = 0;
    cache::Layers layers(settings);
    std::minstd_rand numbers{process + 1};
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    const auto latest = end + std::chrono::minutes(2);  // a slow disk may need longer to have something evicted
    while (Clock::now() < end || (counts.total() < 2 * limit && Clock::now() < latest)) {
      for (unsigned i = 0; i < 100; ++i)
        obtain(layers, static_cast<unsigned>(numbers() % keys), {.compile_us = 0, .bytes = 500}, counts);
    }
  });
  const auto summary = cache_stat(root).value();
  report.row("{} processes, {} keys, limit {}: {} hits, {} compiles, {} entries at the end, {} wrong", kProcesses, keys,
             limit, counts.hits.load(), counts.total(), summary.entries, counts.wrong.load());
  report.equal(bad + counts.wrong + counts.unsound, 0, "wrong results, damage and failed processes");
  report.expect(counts.total() > summary.entries + limit / 2, "nothing was evicted, so nothing was tested");
  report.expect(summary.entries <= limit + limit / 5, "the folder outgrew its limit by a fifth");
  const auto trimmed = cache_trim(root, std::uint64_t{1} << 40, limit / 2).value();
  report.equal(cache_stat(root).value().entries, limit / 2, "entries after a trim");
  report.expect(trimmed.removed > 0, "the trim removed nothing");
}

}  // namespace tma_jit::stress

// Stampedes: many processes, or threads, ask an empty cache for the same kernels at the same moment.
#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "scenario.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

// In the same order by all, which is worst for locks, or each in an order of its own.
std::vector<unsigned> order_of(unsigned keys, bool same, unsigned seed) {
  std::vector<unsigned> order(keys);
  std::iota(order.begin(), order.end(), 0U);
  if (!same) std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

struct Shape {
  unsigned processes, keys;
};

void stampede(Shape shape, unsigned rounds, const Work& work, Report& report) {
  std::uint64_t compiles = 0, wrong = 0, longest = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const TemporaryFolder folder;
    Counts& counts = shared_counts();
    const unsigned bad = run_together(shape.processes, counts, [&](unsigned process) {
      cache::Layers layers(settings_for(folder.path() / "cache", counts));
      for (const unsigned number : order_of(shape.keys, round % 2 == 0, process)) obtain(layers, number, work, counts);
    });
    compiles += counts.total();
    wrong += counts.wrong + counts.unsound + counts.put_failures + bad;
    longest = std::max<std::uint64_t>(longest, counts.longest_wait_us);
    report.equal(counts.not_once(shape.keys), 0, "keys not compiled exactly once");
  }
  report.row("{} processes x {} keys, {} rounds: {} compiles, {} wrong, longest wait {} ms", shape.processes,
             shape.keys, rounds, compiles, wrong, longest / 1000);
  report.equal(compiles, std::uint64_t{shape.keys} * rounds, "compiles");
  report.equal(wrong, 0, "wrong results, faults and failed processes");
}

// Every thread has an engine of its own, as two libraries in one process would.
void threads(unsigned rounds, Report& report) {
  constexpr unsigned kThreads = 16, kKeys = 50;
  for (unsigned round = 0; round < rounds; ++round) {
    const TemporaryFolder folder;
    Counts& counts = shared_counts();
    std::vector<std::thread> running;
    for (unsigned i = 0; i < kThreads; ++i) {
      running.emplace_back([&, i] {
        cache::Layers layers(settings_for(folder.path() / "cache", counts));
        for (const unsigned number : order_of(kKeys, round % 2 == 0, i)) obtain(layers, number, {2'000}, counts);
      });
    }
    for (std::thread& thread : running) thread.join();
    report.equal(counts.not_once(kKeys), 0, "keys not compiled exactly once by threads");
    report.equal(counts.wrong + counts.unsound + counts.put_failures, 0, "wrong results and faults in threads");
  }
  report.row("{} threads x {} keys, {} rounds: as many compiles as keys", kThreads, kKeys, rounds);
}

}  // namespace

void cold(const Budget& budget, Report& report) {
  const unsigned rounds = budget.pick(2, 20);
  const Work work{.compile_us = budget.pick(8'000, 40'000)};
  for (const Shape shape : {Shape{8, 64}, Shape{64, 64}, Shape{256, 50}}) stampede(shape, rounds, work, report);
  threads(budget.pick(2, 20), report);
}

}  // namespace tma_jit::stress

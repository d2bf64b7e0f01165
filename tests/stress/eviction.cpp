// A folder beyond its limit, with readers and writers at work; and what a hit and a publish cost.
#include <algorithm>
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
    while (Clock::now() < end) {
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

namespace {

using std::chrono::milliseconds;

// For filling a folder quickly.
class UnflushedFileSystem final : public cache::FileSystem {
 public:
  int flush(int) const override { return 0; }
};

template <class Body> double median_us(unsigned times, Body body) {
  std::vector<double> all;
  for (unsigned i = 0; i < times; ++i) {
    const auto start = Clock::now();
    body(i);
    all.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

// A miss among many entries, explained: with the index, and without it in the time that a sealed engine gives it.
void explain_cost(const Budget& budget, Report& report) {
  const unsigned entries = budget.pick(5'000, 50'000);
  const TemporaryFolder folder;
  const UnflushedFileSystem files;
  const cache::Store store = cache::Store::open(folder.path() / "cache", {.files = &files, .sweep_every = 0}).value();
  const auto marks_of = [](std::string_view number) {
    cache::Marks marks = cache::Marks::of("sample");
    for (unsigned part = 0; part < 40; ++part) marks.add(std::to_string(part), part == 7 ? number : "value");
    return marks;
  };
  for (unsigned number = 0; number < entries; ++number) {
    cache::Entry entry = cache::sample_entry(number, 16);
    entry.metadata = std::to_string(number);
    (void)store.put(cache::sample_key(number), entry);
    store.add_to_index(cache::sample_key(number), marks_of(entry.metadata));
  }
  const auto explain = [&](milliseconds limit) {
    const auto start = Clock::now();
    const auto found = store.nearest({marks_of("none"), marks_of, start + limit});
    report.expect(!found.entries.empty() && found.entries[0].differences == 1, "no nearest entry was found");
    return std::chrono::duration_cast<milliseconds>(Clock::now() - start).count();
  };
  const auto indexed = explain(milliseconds(60'000));
  std::filesystem::remove(store.root() / "v1" / "index");
  const auto bounded = explain(milliseconds(250));
  report.row("a miss among {} entries explained: {} ms; without an index, given 250 ms: {} ms", entries, indexed,
             bounded);
  report.expect(indexed < 2'000 && bounded < 2'000, "far too slow");
}

}  // namespace

// Bounds that hold in unoptimised builds and on a busy machine; the figures are for reading.
void cost(const Budget& budget, Report& report) {
  const unsigned times = budget.pick(300, 3'000);
  const TemporaryFolder folder;
  const cache::Store store = cache::Store::open(folder.path() / "cache").value();
  for (const bool noise : {true, false}) {
    const Work work{.compile_us = 0, .bytes = 65'536, .noise = noise};
    const auto entry = expected_entry(1, work);
    const double publish = median_us(times, [&](unsigned i) { (void)store.put(cache::sample_key(i % 64), entry); });
    unsigned hits = 0;
    const double hit =
        median_us(times, [&](unsigned i) { hits += store.get(cache::sample_key(i % 64)).entry ? 1U : 0U; });
    report.row("64 KB {}: a hit {:.0f} us, a publish {:.0f} us (medians of {})",
               noise ? "that does not compress" : "that compresses", hit, publish, times);
    report.equal(hits, times, "hits");
    report.expect(hit < 5'000 && publish < 100'000, "far too slow");
  }
  const double open = median_us(times, [&](unsigned) { (void)cache::Store::open(store.root()); });
  report.row("opening a folder: {:.0f} us", open);
  explain_cost(budget, report);
}

}  // namespace tma_jit::stress

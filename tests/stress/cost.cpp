// What a hit, a publish, the explanation of a miss and a preparation cost.
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/tma_jit.h>

#include "base/median.h"
#include "scenario.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
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
  return median_of(std::move(all));
}

// A miss among many entries, explained: with the index, and without it in the time that a sealed engine gives it.
void explain_cost(const Budget& budget, Report& report) {
  const unsigned entries = budget.pick(5'000, 50'000);
  const TemporaryFolder folder(memory_folder());
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

DeviceBuffer floats(Engine& engine, std::int64_t count) {
  return DeviceBuffer::allocate(engine, static_cast<std::size_t>(count) * sizeof(float)).value();
}

// Preparations by one engine of the emulator: the first, of a kernel on disk; of others on disk; of one in memory.
struct Preparing {
  double first, disk, memory;

  static Preparing measure(const Options& options, unsigned kernels) {
    constexpr std::int64_t kElements = 4096;
    Engine engine(options);
    const DeviceBuffer a = floats(engine, kElements), y = floats(engine, kElements);
    Request request{.kernel = "map", .dims = {{"N", kElements}}};
    request.tensors = {{"A", Tensor::row_major(a.address(), DType::f32, {kElements})},
                       {"Y", Tensor::row_major(y.address(), DType::f32, {kElements})}};
    const auto prepare = [&](unsigned i) {
      request.hooks["apply"] = "a * " + std::to_string(i) + ".0f";
      (void)engine.prepare(request).value();
    };
    const double first = median_us(1, prepare);
    const double disk = median_us(kernels - 1, [&](unsigned i) { prepare(i + 1); });
    return {first, disk, median_us(100, [&](unsigned) { prepare(0); })};
  }
};

// What an application waits for when its kernels are on disk, the emulator's loading of a kernel included.
void prepare_cost(const Budget& budget, Report& report) {
  const TemporaryFolder folder(memory_folder());
  Options options;
  options.device = Device::parse("emulator:sm_90a").value();
  options.cache_dir = folder.path() / "cache";
  Engine probe(options);
  if (const auto key = probe.key(probe.plan({.kernel = "copy", .dims = {{"N", 1}}}).value()); !key)
    return report.skip(key.error().message);
  const unsigned kernels = 20;
  (void)Preparing::measure(options, kernels);
  std::vector<double> first, disk, memory;
  for (unsigned i = 0; i < budget.pick(20, 200); ++i) {
    const Preparing engine = Preparing::measure(options, kernels);
    first.push_back(engine.first);
    disk.push_back(engine.disk);
    memory.push_back(engine.memory);
  }
  report.row("prepare: the first of an engine {:.0f} us, of a kernel on disk {:.0f} us, of one in memory {:.0f} us",
             median_of(first), median_of(disk), median_of(memory));
  report.expect(median_of(first) < 100'000, "far too slow");
}

}  // namespace

// Bounds that hold in unoptimised builds and on a busy machine, without the time of a disk; the figures are for
// reading.
void cost(const Budget& budget, Report& report) {
  const unsigned times = budget.pick(300, 3'000);
  const TemporaryFolder folder(memory_folder());
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
  prepare_cost(budget, report);
}

}  // namespace tma_jit::stress

// Entries of the cache that are damaged, or sound but refused by the driver: they are compiled again and replaced.
#include <cstring>
#include <filesystem>
#include <string_view>

#include <doctest/doctest.h>

#include "cache/store.h"
#include "compile/engine_bench.h"

namespace tma_jit {

using namespace testing;

TEST_CASE("a spoiled entry is counted, warned of once and replaced") {
  FakeBench bench;
  {
    Engine engine = bench.engine();
    REQUIRE(engine.prepare(engine_bench_request()));
  }
  for (const auto& file : std::filesystem::recursive_directory_iterator(bench.folder.path())) {
    if (file.is_regular_file() && file.file_size() > 1000) std::filesystem::resize_file(file.path(), 500);
  }
  Engine engine = bench.engine();
  const auto launch = engine.prepare(engine_bench_request());
  REQUIRE(launch);
  CHECK(launch->artifact().compiled);
  CHECK(engine.stats().disk_faults == 1);
  CHECK(engine.stats().disk_hits == 0);
  CHECK(engine.stats().disk_misses == 0);
  CHECK(bench.log.warnings().size() == 1);
  Engine healed = bench.engine();
  REQUIRE(healed.prepare(engine_bench_request()));
  CHECK(healed.stats().disk_hits == 1);
}

namespace {

// A driver that refuses cubins which begin so.
constexpr std::string_view kSpoiled = "SPOILED!";
decltype(driver::Api::library_load_data) load_anything = nullptr;

CUresult load_what_is_sound(CUlibrary* library, const void* code, CUjit_option* options, void** values, unsigned count,
                            CUlibraryOption* library_options, void** library_values, unsigned library_count) {
  if (std::memcmp(code, kSpoiled.data(), kSpoiled.size()) == 0) return CUDA_ERROR_INVALID_IMAGE;
  return load_anything(library, code, options, values, count, library_options, library_values, library_count);
}

struct SpoiledBench : FakeBench {
  Key key;

  // An entry that is sound in every way but that no driver loads it.
  SpoiledBench() {
    load_anything = fake.api().library_load_data;
    fake.api().library_load_data = load_what_is_sound;
    key = engine().prepare(engine_bench_request())->artifact().key;
    const cache::Store store = this->store();
    cache::Entry entry = store.get(key).entry.value();
    std::memcpy(entry.cubin.data(), kSpoiled.data(), kSpoiled.size());
    REQUIRE(store.put(key, entry));
  }
  cache::Store store() { return cache::Store::open(options().cache_dir).value(); }
  bool is_spoiled() { return std::memcmp(store().get(key).entry->cubin.data(), kSpoiled.data(), kSpoiled.size()) == 0; }
};

}  // namespace

TEST_CASE("an entry that the driver refuses to load is compiled again once and replaced, with one warning") {
  SpoiledBench bench;
  Engine engine = bench.engine();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto launch = engine.prepare(engine_bench_request());
      CHECK(launch);
      if (!launch) return;
      CHECK(std::memcmp(launch->artifact().bytes.data(), kSpoiled.data(), kSpoiled.size()) != 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Stats stats = engine.stats();
  CHECK(stats.compiles == 1);
  CHECK(stats.loads == 1);
  CHECK(stats.disk_hits == 1);
  CHECK(stats.disk_faults == 1);
  CHECK(stats.cache.healed == 1);
  const auto warnings = bench.log.warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("the driver refuses the entry " + bench.key.hex() + " of scale for sm_90a") !=
        std::string::npos);
  CHECK(!bench.is_spoiled());
  Engine next = bench.engine();
  REQUIRE(next.prepare(engine_bench_request()));
  CHECK(next.stats().compiles == 0);
}

TEST_CASE("a driver that refuses what its compiler makes is the error, and the entry stays") {
  SpoiledBench bench;
  REQUIRE(bench.engine().prepare(engine_bench_request()));  // heals it
  bench.fake.fail("cuLibraryLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU);
  Engine engine = bench.engine();
  const auto launch = engine.prepare(engine_bench_request());
  REQUIRE(!launch);
  CHECK(launch.error().code == ErrorCode::driver);
  CHECK(engine.stats().compiles == 1);
  CHECK(engine.stats().disk_faults == 0);
  CHECK(engine.stats().disk_writes == 0);
  CHECK(bench.log.warnings().size() == 1);  // of the first
}

TEST_CASE("an entry that the driver refuses stays where it cannot be compiled again, and the error says why") {
  SpoiledBench bench;
  Options options = bench.options();
  options.seal = Seal::refuse;
  const auto sealed = bench.engine(options).prepare(engine_bench_request());
  REQUIRE(!sealed);
  CHECK(sealed.error().code == ErrorCode::driver);
  CHECK(sealed.error().detail.find("it was not compiled again: scale for sm_90a is not in the cache") !=
        std::string::npos);
  options = bench.options();
  options.nvrtc = bench.folder.path() / "libnvrtc.so.99";
  const auto without = bench.engine(options).prepare(engine_bench_request());
  REQUIRE(!without);
  CHECK(without.error().code == ErrorCode::driver);
  CHECK(without.error().detail.find("libnvrtc.so.99") != std::string::npos);
  CHECK(bench.is_spoiled());
}

}  // namespace tma_jit

#include <atomic>
#include <thread>

#include "gpu_fixture.h"

namespace tma_jit {

using namespace testing;

TEST_CASE("a kernel is compiled and loaded once, found in memory after, and on disk by the next engine") {
  Gpu gpu;
  const DeviceBuffer x = gpu.buffer_of(ramp(256)), y = gpu.buffer(1024);
  std::vector<std::thread> threads;
  std::atomic<int> prepared = 0;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      auto launch = gpu.engine.prepare(scale_of(x, y, 256));
      if (launch && launch->launch()) ++prepared;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(prepared == 16);
  CHECK(gpu.engine.stats().compiles == 1);
  CHECK(gpu.engine.stats().loads == 1);
  CHECK(gpu.engine.stats().memory_hits == 15);

  Options options;
  options.cache_dir = gpu.engine.cache_dir();
  Engine other(options);
  TMA_JIT_REQUIRE_OK(other.add_template("scale.cu", kScale));
  auto launch = other.prepare(scale_of(x, y, 256));
  TMA_JIT_REQUIRE_OK(launch);
  TMA_JIT_REQUIRE_OK(launch->launch());
  CHECK(other.stats().compiles == 0);
  CHECK(other.stats().disk_hits == 1);
  CHECK(gpu.values_of<float>(y, 256)[255] == 512.0F);
}

}  // namespace tma_jit

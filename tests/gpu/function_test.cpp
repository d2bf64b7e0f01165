#include <atomic>
#include <thread>

#include "gpu_fixture.h"

namespace tma_jit {

using namespace testing;

namespace {

// One thread's calls: shapes that change, buffers and a stream of its own, every result looked at.
void call_in_turn(Gpu& gpu, Function& tile, int seed, std::atomic<int>& wrong) {
  const TestStream stream(gpu);
  const DeviceBuffer x = gpu.buffer_of(ramp(200 * 64));
  DeviceBuffer y = gpu.buffer(200 * 64 * 4);
  for (int i = 0; i < 50; ++i) {
    const std::int64_t rows = 1 + (i * 7 + seed * 13) % 200, columns = 4 * (1 + i % 16);
    const auto count = static_cast<std::size_t>(rows * columns);
    if (!tile({Tensor::row_major(x.address(), DType::f32, {rows, columns}),
               Tensor::row_major(y.address(), DType::f32, {rows, columns})},
              stream.get())) {
      ++wrong;
      continue;
    }
    stream.wait();
    std::vector<float> values(count);
    if (!y.download(values.data(), count * 4) || values != ramp(count)) ++wrong;
  }
}

}  // namespace

TEST_CASE("four threads call one function with changing shapes") {
  Gpu gpu;
  auto tile = gpu.engine.function({.kernel = "tile"});
  TMA_JIT_REQUIRE_OK(tile);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] { call_in_turn(gpu, *tile, seed, wrong); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(gpu.engine.stats().compiles == 1);
}

}  // namespace tma_jit

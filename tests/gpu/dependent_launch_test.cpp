// Kernels that may start before the one before them has ended keep its results' order by griddepcontrol.wait alone.
#include "gpu/gpu_fixture.h"

namespace tma_jit {

using namespace testing;

TEST_CASE("a chain of dependent launches adds up") {
  Gpu gpu;
  constexpr std::int64_t kElements = 4096;
  constexpr int kRounds = 200;
  const std::vector<std::int32_t> zeros(kElements, 0);
  const DeviceBuffer a = gpu.buffer_of(zeros), b = gpu.buffer_of(zeros);
  const auto add_one = [&](const DeviceBuffer& from, const DeviceBuffer& to) {
    return gpu.prepared(
        {.kernel = "griddepcontrol",
         .tensors = {{"S", vector_of(from, kElements, DType::s32)}, {"D", vector_of(to, kElements, DType::s32)}}});
  };
  Launch there = add_one(a, b), back = add_one(b, a);
  CHECK(there.plan().geometry.programmatic);
  const TestStream stream(gpu);
  for (int i = 0; i < kRounds; ++i) {
    TMA_JIT_REQUIRE_OK(there.launch(stream.get()));
    TMA_JIT_REQUIRE_OK(back.launch(stream.get()));
  }
  stream.wait();
  CHECK(gpu.values_of<std::int32_t>(a, kElements) == std::vector<std::int32_t>(kElements, 2 * kRounds));
}

}  // namespace tma_jit

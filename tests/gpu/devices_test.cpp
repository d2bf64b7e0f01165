// Several devices in one process. With one device there is nothing to test, and the test says so.
#include <thread>

#include "gpu_fixture.h"

namespace tma_jit {

using namespace testing;

namespace {

constexpr std::int64_t kCount = 100003;

int device_count() {
  int count = 0;
  REQUIRE(api().device_get_count(&count) == CUDA_SUCCESS);
  if (count < 2) MESSAGE("not tested: this process sees " << count << " device, and the test needs 2");
  return count;
}

// Scales on one device, through a launch, a rebound launch and a function; the number of elements that are wrong.
std::size_t faults_of(Gpu& gpu, float factor) {
  const std::vector<float> values = ramp(kCount);
  const DeviceBuffer x = gpu.buffer_of(values);
  DeviceBuffer y = gpu.buffer(values.size() * 4);
  DeviceBuffer z = gpu.buffer(values.size() * 4);
  DeviceBuffer w = gpu.buffer(values.size() * 4);
  for (DeviceBuffer* buffer : {&y, &z, &w}) TMA_JIT_REQUIRE_OK(buffer->fill(0xFF));
  Request request = scale_of(x, y, kCount);
  request.scalars["alpha"] = double{factor};
  Launch launch = gpu.prepared(request);
  TMA_JIT_REQUIRE_OK(launch.launch());
  TMA_JIT_REQUIRE_OK(launch.rebind("Y", z.address()));
  TMA_JIT_REQUIRE_OK(launch.launch());
  auto function = gpu.engine.function({.kernel = "scale", .scalars = {{"alpha", double{factor}}}});
  TMA_JIT_REQUIRE_OK(function);
  TMA_JIT_REQUIRE_OK((*function)({vector_of(x, kCount), vector_of(w, kCount)}));
  std::size_t faults = 0;
  for (const DeviceBuffer* buffer : {&y, &z, &w}) {
    const std::vector<float> results = gpu.values_of<float>(*buffer, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) faults += results[i] != factor * values[i] ? 1 : 0;
  }
  return faults;
}

}  // namespace

TEST_CASE("an engine a device: right results everywhere, and the caller's current context as it was") {
  const int count = device_count();
  for (int device = 0; device < count && count > 1; ++device) {
    const CUcontext before = current_context();
    Gpu gpu({.device = Device::cuda(device)});
    CHECK(faults_of(gpu, static_cast<float>(device + 2)) == 0);
    CHECK(current_context() == before);
  }
}

TEST_CASE("a launch of one device runs while another's context is current") {
  if (device_count() < 2) return;
  Gpu first({.device = Device::cuda(0)});
  Gpu second({.device = Device::cuda(1)});
  const auto current = driver::Current::enter(*EngineInternals::state_of(first.engine).device.context().value());
  REQUIRE(current);
  const CUcontext before = current_context();
  CHECK(faults_of(second, 3) == 0);
  CHECK(current_context() == before);
}

TEST_CASE("threads on several engines of all devices at once") {
  const int count = device_count();
  if (count < 2) return;
  std::vector<std::unique_ptr<Gpu>> gpus;
  for (int i = 0; i < 2 * count; ++i) gpus.push_back(std::make_unique<Gpu>(Options{.device = Device::cuda(i % count)}));
  std::atomic<std::size_t> faults = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4 * gpus.size(); ++i) {
    threads.emplace_back([&, i] { faults += faults_of(*gpus[i % gpus.size()], static_cast<float>(i + 1)); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(faults == 0);
}

}  // namespace tma_jit

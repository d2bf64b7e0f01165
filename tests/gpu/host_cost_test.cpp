// What a launch costs the host beside a bare cuLaunchKernelEx of the same kernel with the same arguments, in one run.
#include <algorithm>
#include <chrono>

#include "driver/launch_state.h"
#include "gpu_fixture.h"

namespace tma_jit {

using namespace testing;

namespace {

constexpr int kBatch = 20;
constexpr int kRounds = 200;

// Median microseconds of one call, over batches that never fill the queue.
template <class Call> double cost_of(const TestStream& stream, Call&& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < kBatch; ++i) call();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kBatch);
    stream.wait();
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

TEST_CASE("a launch costs the host what the driver's call costs; a function's call little more") {
  Gpu gpu;
  const DeviceBuffer x = gpu.buffer_of(ramp(64 * 64)), y = gpu.buffer(64 * 64 * 4), z = gpu.buffer(64 * 64 * 4);
  const Tensor source = Tensor::row_major(x.address(), DType::f32, {64, 64});
  const Tensor targets[] = {Tensor::row_major(y.address(), DType::f32, {64, 64}),
                            Tensor::row_major(z.address(), DType::f32, {64, 64})};
  const Request request{.kernel = "tile", .tensors = {{"X", source}, {"Y", targets[0]}}};
  Launch launch = gpu.prepared(request);
  auto function = gpu.engine.function({.kernel = "tile"});
  TMA_JIT_REQUIRE_OK(function);

  auto bare = EngineInternals::state_of(gpu.engine).launch(gpu.engine.plan(request).value());
  TMA_JIT_REQUIRE_OK(bare);
  const TestStream stream(gpu);
  CUlaunchConfig config = (*bare)->prepared->configuration.config();
  config.hStream = stream.get();
  const CUfunction kernel = (*bare)->prepared->kernel->function();
  void** arguments = (*bare)->arguments.pointers();
  const driver::Api& table = api();

  std::size_t turn = 0;
  double best_launch = 1e9, best_rebound = 1e9, best_function = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat) {  // in turn, so that clocks and neighbours meet all of them
    const double raw_us = cost_of(stream, [&] { table.launch_kernel_ex(&config, kernel, arguments, nullptr); });
    const double launch_us = cost_of(stream, [&] { (void)launch.launch(stream.get()); });
    const double rebound_us = cost_of(stream, [&] {
      (void)launch.rebind("Y", targets[turn++ % 2].address);
      (void)launch.launch(stream.get());
    });
    const double function_us = cost_of(stream, [&] { (void)(*function)({source, targets[turn++ % 2]}, stream.get()); });
    MESSAGE("host us a call: cuLaunchKernelEx " << raw_us << ", launch " << launch_us << ", rebind and launch "
                                                << rebound_us << ", function " << function_us);
    best_launch = std::min(best_launch, launch_us - raw_us);
    best_rebound = std::min(best_rebound, rebound_us - raw_us);
    best_function = std::min(best_function, function_us - raw_us);
  }
  CHECK(best_launch < 0.5);
  CHECK(best_rebound < 2);
  CHECK(best_function < 2);
}

TEST_CASE("measure tells device and host time of a launch") {
  Gpu gpu;
  const DeviceBuffer x = gpu.buffer(64 << 20), y = gpu.buffer(64 << 20);
  Launch launch = gpu.prepared(scale_of(x, y, 16 << 20));
  const auto measured = measure(gpu.engine, launch);
  TMA_JIT_REQUIRE_OK(measured);
  MESSAGE("scaling 64 MiB: " << measured->median_us << " us, host " << measured->host_us << " us");
  CHECK(measured->median_us > 10);
  CHECK(measured->min_us <= measured->median_us);
  CHECK(measured->median_us <= measured->max_us);
  CHECK(measured->host_us > 0.5);
  CHECK(measured->flushed_l2);
}

}  // namespace tma_jit

// Tuning in the background on a GPU: a function is called and captured while its shape is tuned beside it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <tma_jit/tuning.h>

#include "gpu_fixture.h"

namespace tma_jit {

using namespace testing;

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kCount = std::int64_t{1} << 20;

// Y = X; the planned configuration copies many times over.
const std::string kPatient = R"cu(//! kernel  patient
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N
//! param   REPEATS = 50 in {1, 50}
//! tensor  X : f32[N]
//! tensor  Y : f32[N] out
//! launch  grid ceil_div(N, 256)  block 256
#include "device/types.cuh"

extern "C" __global__ void patient(View<const f32, 1> X, View<f32, 1> Y, const Dims dims) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= dims.N) return;
  volatile f32* y = Y.data;
  for (int repeat = 0; repeat < REPEATS; ++repeat) y[i] = X.data[i];
}
)cu";

Options in_background() {
  Options options;
  options.tuning.policy = TuningPolicy::background;
  options.tuning.budget_s = 30;
  options.tuning.device_share = 1;
  return options;
}

// Calls the function until its shape has been swapped; all calls must succeed.
void call_until_swapped(Gpu& gpu, Function& function, const DeviceBuffer& x, const DeviceBuffer& y,
                        const TestStream& stream) {
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (gpu.engine.stats().launches_swapped == 0 && std::chrono::steady_clock::now() < until) {
    TMA_JIT_REQUIRE_OK(function({vector_of(x, kCount), vector_of(y, kCount)}, stream.get()));
    stream.wait();
  }
  const Stats stats = gpu.engine.stats();
  CHECK(stats.problems_tuned == 1);
  CHECK(stats.tuning_failures == 0);
  REQUIRE(stats.launches_swapped == 1);
}

void begin_capture(CUstream stream) {
  REQUIRE(raw<CUresult(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2")(
              stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
}

CUgraph end_capture(CUstream stream) {
  CUgraph graph = nullptr;
  REQUIRE(raw<CUresult(CUstream, CUgraph*)>("cuStreamEndCapture")(stream, &graph) == CUDA_SUCCESS);
  return graph;
}

// The kernels of a graph in its order.
std::vector<CUfunction> functions_of(CUgraph graph) {
  std::size_t count = 0;
  REQUIRE(raw<CUresult(CUgraph, CUgraphNode*, std::size_t*)>("cuGraphGetNodes")(graph, nullptr, &count) ==
          CUDA_SUCCESS);
  std::vector<CUgraphNode> nodes(count);
  REQUIRE(raw<CUresult(CUgraph, CUgraphNode*, std::size_t*)>("cuGraphGetNodes")(graph, nodes.data(), &count) ==
          CUDA_SUCCESS);
  std::vector<CUfunction> functions;
  for (const CUgraphNode node : nodes) {
    CUDA_KERNEL_NODE_PARAMS_v2 params{};
    REQUIRE(raw<CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2*)>("cuGraphKernelNodeGetParams_v2")(node, &params) ==
            CUDA_SUCCESS);
    functions.push_back(params.func);
  }
  raw<CUresult(CUgraph)>("cuGraphDestroy")(graph);
  return functions;
}

}  // namespace

TEST_CASE("a shape is tuned beside the calls of its function, which stay right, and the record outlives the engine") {
  Gpu gpu(in_background());
  TMA_JIT_REQUIRE_OK(gpu.engine.add_template("patient.cu", kPatient));
  const std::vector<float> values = ramp(kCount);
  const DeviceBuffer x = gpu.buffer_of(values);
  DeviceBuffer y = gpu.buffer(kCount * 4);
  const TestStream stream(gpu);
  auto function = gpu.engine.function({.kernel = "patient"});
  TMA_JIT_REQUIRE_OK(function);
  call_until_swapped(gpu, *function, x, y, stream);
  TMA_JIT_REQUIRE_OK(y.fill(0));
  TMA_JIT_REQUIRE_OK((*function)({vector_of(x, kCount), vector_of(y, kCount)}, stream.get()));
  stream.wait();
  CHECK(gpu.values_of<float>(y, kCount) == values);

  const auto records = read_tuning_file(tuning_file(gpu.engine));
  TMA_JIT_REQUIRE_OK(records);
  REQUIRE(records->records.size() == 1);
  CHECK(records->records.front().params.at("REPEATS") == 1);
  CHECK(records->records.front().us < records->records.front().preset_us);
  CHECK(gpu.log.warnings().empty());
}

TEST_CASE("tuning breaks no capture of any mode, and a capture keeps its kernel through a swap") {
  Gpu gpu(in_background());
  TMA_JIT_REQUIRE_OK(gpu.engine.add_template("patient.cu", kPatient));
  const DeviceBuffer x = gpu.buffer_of(ramp(kCount));
  const DeviceBuffer y = gpu.buffer(kCount * 4);
  const TestStream capturing(gpu), other(gpu);
  auto function = gpu.engine.function({.kernel = "patient"});
  TMA_JIT_REQUIRE_OK(function);
  const auto call = [&](CUstream stream) {
    TMA_JIT_REQUIRE_OK((*function)({vector_of(x, kCount), vector_of(y, kCount)}, stream));
  };
  begin_capture(capturing.get());
  call(capturing.get());  // the tuning begins, and goes on while the stream captures
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (gpu.engine.stats().launches_swapped == 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(1ms);
  }
  REQUIRE(gpu.engine.stats().launches_swapped == 1);
  call(capturing.get());
  call(other.get());  // takes the swap
  call(capturing.get());
  const std::vector<CUfunction> kept = functions_of(end_capture(capturing.get()));
  REQUIRE(kept.size() == 3);
  CHECK(kept[1] == kept[0]);
  CHECK(kept[2] == kept[0]);

  begin_capture(capturing.get());
  call(capturing.get());
  const std::vector<CUfunction> next = functions_of(end_capture(capturing.get()));
  REQUIRE(next.size() == 1);
  CHECK(next[0] != kept[0]);
  other.wait();
  CHECK(gpu.log.warnings().empty());
}

// `tune` goes first, and the other engine reads its cubins, so that the tuning in the background measures at once.
TEST_CASE("what tuning in the background costs the application's calls, and whether it chooses what tune chooses") {
  constexpr std::int64_t kM = 1576, kN = 272, kK = 2408;
  Gpu alone;
  Request request{.kernel = "gemm"};
  request.dims = {{"M", kM}, {"N", kN}, {"K", kK}};
  const auto tuned = tune(alone.engine, std::vector{request}, TuneOptions{.budget_s = 5});
  TMA_JIT_REQUIRE_OK(tuned);
  REQUIRE(std::filesystem::remove(tuning_file(alone.engine)));  // which the other would follow

  Options options;
  options.cache.read_only = {alone.folder.path() / "cache"};
  options.tuning.policy = TuningPolicy::background;
  options.tuning.device_share = 0.3;
  Gpu gpu(options);
  const DeviceBuffer a = gpu.buffer(kM * kK * 2), b = gpu.buffer(kN * kK * 2), d = gpu.buffer(kM * kN * 2);
  const Tensor tensors[] = {Tensor::row_major(a.address(), DType::bf16, {kM, kK}),
                            Tensor::row_major(b.address(), DType::bf16, {kN, kK}),
                            Tensor::row_major(d.address(), DType::bf16, {kM, kN})};
  const TestStream stream(gpu);
  auto function = gpu.engine.function({.kernel = "gemm"});
  TMA_JIT_REQUIRE_OK(function);
  struct Times {
    std::vector<double> host, whole;  // microseconds of a call, and until its result is there
  };
  const auto call = [&](Times& times) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto done = (*function)({tensors[0], tensors[1], tensors[2]}, stream.get());
    const auto called = Clock::now();
    if (!done) TMA_JIT_REQUIRE_OK(done);
    stream.wait();
    times.host.push_back(std::chrono::duration<double, std::micro>(called - start).count());
    times.whole.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  };
  const auto say = [](const std::string& when, Times& times) {
    const auto at = [](std::vector<double>& values, double share) {
      std::sort(values.begin(), values.end());
      return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    MESSAGE(when << ": " << times.host.size() << " calls, host p50 " << at(times.host, 0.5) << " p99 "
                 << at(times.host, 0.99) << " us, with the result p50 " << at(times.whole, 0.5) << " p99 "
                 << at(times.whole, 0.99) << " us");
  };
  Times first, beside, after;
  call(first);  // plans, compiles, and gives the shape to the tuning
  const auto begin = std::chrono::steady_clock::now();
  const auto ended = [&] {
    const Stats stats = gpu.engine.stats();
    return stats.problems_tuned + stats.tuning_failures + stats.tunings_undecided > 0;
  };
  while (!ended() && std::chrono::steady_clock::now() - begin < 120s) call(beside);
  MESSAGE("tuned for " << std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() << " s");
  call(first);  // takes the swap, if there is one
  for (int i = 0; i < 20'000; ++i) call(after);
  say("while the shape is tuned", beside);
  say("afterwards", after);
  const Stats stats = gpu.engine.stats();
  CHECK(stats.tuning_failures == 0);
  CHECK(stats.problems_tuned + stats.tunings_undecided == 1);
  const auto records = read_tuning_file(tuning_file(gpu.engine));
  TMA_JIT_REQUIRE_OK(records);
  REQUIRE(records->records.size() == stats.problems_tuned);
  if (records->records.empty()) {
    MESSAGE("the calls made times vary too much: the planned configuration stays");
    CHECK(stats.launches_swapped == 0);
    return;
  }
  const TuningRecord &here = records->records.front(), &there = tuned->front().record;
  MESSAGE("in the background " << here.preset_us / here.us << " times as fast as planned, alone "
                               << there.preset_us / there.us << "; the same choice: " << (here.params == there.params));
  CHECK(here.preset_us / here.us > 0.97 * there.preset_us / there.us);
}

TEST_CASE("an engine ends soon while it tunes") {
  std::chrono::steady_clock::time_point start;
  {
    Options options = in_background();
    options.tuning.device_share = 0.01;
    Gpu gpu(std::move(options));
    TMA_JIT_REQUIRE_OK(gpu.engine.add_template("patient.cu", kPatient));
    const DeviceBuffer x = gpu.buffer_of(ramp(kCount));
    const DeviceBuffer y = gpu.buffer(kCount * 4);
    const TestStream stream(gpu);
    auto function = gpu.engine.function({.kernel = "patient"});
    TMA_JIT_REQUIRE_OK(function);
    TMA_JIT_REQUIRE_OK((*function)({vector_of(x, kCount), vector_of(y, kCount)}, stream.get()));
    stream.wait();
    std::this_thread::sleep_for(200ms);
    start = std::chrono::steady_clock::now();
  }
  CHECK(std::chrono::steady_clock::now() - start < 10s);
}

}  // namespace tma_jit

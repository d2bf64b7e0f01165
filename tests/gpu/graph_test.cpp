#include "gpu_fixture.h"

namespace tma_jit {

using namespace testing;

namespace {

void begin_capture(CUstream stream) {
  REQUIRE(raw<CUresult(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2")(
              stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
}

CUgraphExec end_capture(CUstream stream) {
  CUgraph graph = nullptr;
  REQUIRE(raw<CUresult(CUstream, CUgraph*)>("cuStreamEndCapture")(stream, &graph) == CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  REQUIRE(raw<CUresult(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph,
                                                                                                  0) == CUDA_SUCCESS);
  raw<CUresult(CUgraph)>("cuGraphDestroy")(graph);
  return executable;
}

void replay(CUgraphExec executable, CUstream stream) {
  REQUIRE(raw<CUresult(CUgraphExec, CUstream)>("cuGraphLaunch")(executable, stream) == CUDA_SUCCESS);
}

void destroy(CUgraphExec executable) {
  raw<CUresult(CUgraphExec)>("cuGraphExecDestroy")(executable);
}

}  // namespace

TEST_CASE("a captured launch replays on new data, and keeps its arguments through a rebind") {
  Gpu gpu;
  DeviceBuffer x = gpu.buffer_of(ramp(256));
  const DeviceBuffer y = gpu.buffer(1024), elsewhere = gpu.buffer(1024);
  Launch launch = gpu.prepared(scale_of(x, y, 256));
  const TestStream stream(gpu);
  begin_capture(stream.get());
  TMA_JIT_REQUIRE_OK(launch.launch(stream.get()));
  const CUgraphExec graph = end_capture(stream.get());
  TMA_JIT_REQUIRE_OK(launch.rebind("Y", elsewhere.address()));

  const std::vector<float> ones(256, 1.0F);
  TMA_JIT_REQUIRE_OK(x.upload(ones.data(), 1024));
  replay(graph, stream.get());
  CHECK(gpu.values_of<float>(y, 256) == std::vector<float>(256, 2.0F));
  destroy(graph);
}

TEST_CASE("preparing, calling a function and allocating while a stream captures break no capture") {
  Gpu gpu;
  const DeviceBuffer x = gpu.buffer_of(ramp(4096)), y = gpu.buffer(4096 * 4);
  const TestStream stream(gpu);
  begin_capture(stream.get());
  Launch launch = gpu.prepared(scale_of(x, y, 256));
  TMA_JIT_REQUIRE_OK(launch.launch(stream.get()));
  auto tile = gpu.engine.function({.kernel = "tile"});
  TMA_JIT_REQUIRE_OK(tile);
  TMA_JIT_REQUIRE_OK((*tile)(
      {Tensor::row_major(x.address(), DType::f32, {64, 64}), Tensor::row_major(y.address(), DType::f32, {64, 64})},
      stream.get()));
  { const DeviceBuffer scratch = gpu.buffer(1 << 20); }
  const CUgraphExec graph = end_capture(stream.get());
  replay(graph, stream.get());
  CHECK(gpu.values_of<float>(y, 4096) == ramp(4096));
  destroy(graph);
}

TEST_CASE("work on the default stream is refused while a stream that waits for it captures, and the capture goes on") {
  Gpu gpu;
  DeviceBuffer x = gpu.buffer_of(ramp(256)), y = gpu.buffer(1024);
  Launch launch = gpu.prepared(scale_of(x, y, 256));
  const TestStream stream(gpu, CU_STREAM_DEFAULT);
  begin_capture(stream.get());
  std::vector<float> values(256, 1.0F);
  for (const auto& refused : {x.upload(values.data(), 1024), x.download(values.data(), 1024), y.fill(0)}) {
    REQUIRE(!refused);
    CHECK(refused.error().message.find("capturing a graph") != std::string::npos);
  }
  TMA_JIT_REQUIRE_OK(launch.launch(stream.get()));
  const CUgraphExec graph = end_capture(stream.get());
  TMA_JIT_REQUIRE_OK(x.upload(values.data(), 1024));
  replay(graph, stream.get());
  CHECK(gpu.values_of<float>(y, 256) == std::vector<float>(256, 2.0F));
  destroy(graph);
}

TEST_CASE("preparing, rebinding and calling with new shapes in every mode of capture break none") {
  Gpu gpu;
  const DeviceBuffer x = gpu.buffer_of(ramp(4096)), y = gpu.buffer(4096 * 4), elsewhere = gpu.buffer(4096 * 4);
  auto function = gpu.engine.function({.kernel = "scale"});
  TMA_JIT_REQUIRE_OK(function);
  std::int64_t n = 100;
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const TestStream stream(gpu);
    REQUIRE(raw<CUresult(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2")(stream.get(), mode) ==
            CUDA_SUCCESS);
    Launch launch = gpu.prepared(scale_of(x, y, ++n));
    TMA_JIT_REQUIRE_OK(launch.rebind("Y", elsewhere.address()));
    TMA_JIT_REQUIRE_OK(launch.launch(stream.get()));
    TMA_JIT_REQUIRE_OK(
        (*function)({Tensor::row_major(x.address(), DType::f32, {n}), Tensor::row_major(y.address(), DType::f32, {n})},
                    stream.get()));
    destroy(end_capture(stream.get()));
  }
}

}  // namespace tma_jit

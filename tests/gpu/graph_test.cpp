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

}  // namespace tma_jit

// Chains whose stages start while the stage before still runs: launched often, from poisoned results, and in a graph.
#include "gpu/gpu_fixture.h"
#include "support/mlp.h"

namespace tma_jit {

using namespace testing;

TEST_CASE("an MLP launched as a chain again and again gives the same, plainly and in a graph") {
  Gpu gpu;
  for (const std::int64_t rows : {1, 8, 64, 300}) {
    CAPTURE(rows);
    Mlp mlp(gpu.engine, rows, 256, 1024);
    auto chain = gpu.engine.chain(mlp.stages());
    TMA_JIT_REQUIRE_OK(chain);
    const TestStream stream(gpu);
    for (int round = 0; round < 20; ++round) {
      mlp.poison();
      TMA_JIT_REQUIRE_OK(synchronize(gpu.engine));
      for (int launch = 0; launch < 3; ++launch) TMA_JIT_REQUIRE_OK(chain->launch(stream.get()));
      stream.wait();
      if (round % 10 == 0) CHECK(mlp.error() < 0.01);
    }
    REQUIRE(raw<CUresult(CUstream, CUstreamCaptureMode)>("cuStreamBeginCapture_v2")(
                stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
    TMA_JIT_REQUIRE_OK(chain->launch(stream.get()));
    CUgraph graph = nullptr;
    REQUIRE(raw<CUresult(CUstream, CUgraph*)>("cuStreamEndCapture")(stream.get(), &graph) == CUDA_SUCCESS);
    CUgraphExec executable = nullptr;
    REQUIRE(raw<CUresult(CUgraphExec*, CUgraph, unsigned long long)>("cuGraphInstantiateWithFlags")(&executable, graph,
                                                                                                    0) == CUDA_SUCCESS);
    mlp.poison();
    TMA_JIT_REQUIRE_OK(synchronize(gpu.engine));
    for (int replay = 0; replay < 20; ++replay) {
      REQUIRE(raw<CUresult(CUgraphExec, CUstream)>("cuGraphLaunch")(executable, stream.get()) == CUDA_SUCCESS);
    }
    stream.wait();
    CHECK(mlp.error() < 0.01);
    raw<CUresult(CUgraphExec)>("cuGraphExecDestroy")(executable);
    raw<CUresult(CUgraph)>("cuGraphDestroy")(graph);
  }
}

}  // namespace tma_jit

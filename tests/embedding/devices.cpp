// What docs/embedding.md shows of streams, graphs, threads and several devices: compiled here, as an application with
// CUDA's runtime would; tests/gpu runs the like.
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include <tma_jit/tma_jit.h>
#include <tma_jit/tuning.h>

using namespace tma_jit;

Result<void> steps(Engine& engine, const Request& request, cudaStream_t stream, std::uint64_t other_address) {
  auto launch = engine.prepare(request);  // may compile: do it ahead, in any thread
  if (!launch) return tl::make_unexpected(launch.error());
  for (int step = 0; step < 100; ++step) {
    if (auto launched = launch->launch(stream); !launched) return launched;  // one driver call
  }
  return launch->rebind("A", other_address);  // another buffer, the same shape
}

// Writes `part` into the columns of `whole` from `column` on; with S and D exchanged, it reads them.
Request into_columns(const Tensor& part, const Tensor& whole, std::int64_t column, std::int64_t element_bytes) {
  const Tensor columns = Tensor::strided(whole.address + column * element_bytes, whole.dtype,
                                         {part.shape[0], part.shape[1]}, {whole.strides[0], 1});
  return {.kernel = "copy", .tensors = {{"S", part}, {"D", columns}}};
}

Result<cudaGraphExec_t> captured(Launch& launch, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  auto launched = launch.launch(stream);
  cudaStreamEndCapture(stream, &graph);
  if (!launched) return tl::make_unexpected(launched.error());
  cudaGraphInstantiate(&replay, graph, 0);
  cudaGraphDestroy(graph);
  return replay;  // `launch` must outlive it
}

Result<std::vector<Launch>> ahead(Engine& engine, const std::vector<Request>& requests) {
  std::vector<Launch> launches;
  Preparation preparation = engine.prepare_async(requests, {.progress = [](std::size_t done, std::size_t total) {
                                                   std::printf("%zu of %zu kernels are ready\n", done, total);
                                                 }});
  for (std::size_t i = 0; i < preparation.total(); ++i) {
    auto launch = preparation.take(i);  // waits for this one
    if (!launch) return tl::make_unexpected(launch.error());
    launches.push_back(*std::move(launch));
  }
  return launches;
}

struct MlpTensors {
  Tensor x, gate_weights, up_weights, down_weights, gate, hidden, y;
};

Result<void> run_mlp(Engine& engine, const MlpTensors& tensors, Stream stream) {
  const auto& [x, gate_weights, up_weights, down_weights, gate, hidden, y] = tensors;
  const auto product = [](const Tensor& a, const Tensor& b, const Tensor& d) {
    return Request{.kernel = "gemm", .tensors = {{"A", a}, {"B", b}, {"D", d}}};
  };
  Request up = product(x, up_weights, hidden);
  up.operands = {"gate : bf16[M, N]"};
  up.tensors.push_back({"gate", gate});
  up.hooks = {{"epilogue", "silu(gate[row, column]) * x"}};
  auto mlp = engine.chain({product(x, gate_weights, gate), up, product(hidden, down_weights, y)});
  if (!mlp) return tl::make_unexpected(mlp.error());
  return mlp->launch(stream);
}

Result<void> tuned(Engine& engine, const std::vector<Request>& requests) {
  TuneOptions options;
  options.budget_s = 30;  // for all of them; a request that has a record costs nothing
  auto results = tune(engine, requests, options);
  if (!results) return tl::make_unexpected(results.error());
  for (const TuneResult& result : *results) {
    if (result.error) std::printf("%s\n", result.error->text().c_str());
  }
  return {};
}

Result<void> on_every_shape(Engine& engine, const Tensor& a, const Tensor& b, const Tensor& d, cudaStream_t stream) {
  auto gemm = engine.function({.kernel = "gemm"});
  if (!gemm) return tl::make_unexpected(gemm.error());
  return (*gemm)({a, b, d}, stream);  // tensors in the order in which the template declares them
}

std::vector<Engine> an_engine_a_device() {
  int count = 0;
  cudaGetDeviceCount(&count);
  std::vector<Engine> engines;
  for (int device = 0; device < count; ++device) engines.emplace_back(Options{.device = Device::cuda(device)});
  return engines;
}

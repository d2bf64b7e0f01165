#include "driver/replay.h"

#include "core/failure.h"

namespace tma_jit::driver {
namespace {

// Ends the capture whatever became of the launch, because a stream that captures runs nothing.
Result<CUgraph> captured(const Api& api, CUstream stream, Launch& launch) {
  // The relaxed mode lets this thread load and allocate meanwhile.
  TMA_JIT_CHECK(checked(api, api.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "cuStreamBeginCapture"));
  Result<void> launched = launch.launch(stream);
  CUgraph graph = nullptr;
  Result<void> ended = checked(api, api.stream_end_capture(stream, &graph), "cuStreamEndCapture");
  if (launched && ended) return graph;
  if (graph != nullptr) api.graph_destroy(graph);
  return tl::make_unexpected(launched ? ended.error() : launched.error());
}

}  // namespace

Result<Replay> Replay::capture(const Context& context, CUstream stream, Launch& launch) {
  const Api& api = context.api();
  if (api.stream_begin_capture == nullptr) {
    return failure(ErrorCode::unsupported, "the driver of {} has no graphs: measure launches instead",
                   context.device().name);
  }
  TMA_JIT_ASSIGN(const CUgraph graph, captured(api, stream, launch));
  CUgraphExec executable = nullptr;
  const Result<void> made = checked(api, api.graph_instantiate(&executable, graph, 0), "cuGraphInstantiate");
  api.graph_destroy(graph);
  TMA_JIT_CHECK(made);
  return Replay(api, executable);
}

Replay::~Replay() {
  if (graph_ != nullptr) api_->graph_exec_destroy(graph_);
}

Result<void> Replay::run(CUstream stream) const {
  return checked(*api_, api_->graph_launch(graph_, stream), "cuGraphLaunch");
}

}  // namespace tma_jit::driver

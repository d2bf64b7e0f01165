// Under which conditions tuning times launches: replayed from graphs, and beside the application's work. The emulator
// has no graphs, so that the test's driver keeps launches while a stream captures. Needs NVRTC.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include <tma_jit/tuning.h>

#include "emulator/devices.h"
#include "support/engines.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

namespace tma_jit {

using namespace tma_jit::testing;

namespace {

struct Kept {
  CUlaunchConfig config;
  CUfunction function;
  void** arguments;  // of the Launch, which outlives its graph
};

// What the test's driver has seen.
struct Seen {
  bool captures = false;
  std::vector<Kept> captured;        // graphs are numbers of these, from 1
  std::map<std::size_t, int> alive;  // graphs and executables by number
  int replays = 0;
} seen;

template <class Handle> Handle handle(std::size_t number) {
  return reinterpret_cast<Handle>(number);
}

CUresult forget(std::size_t number) {
  --seen.alive[number];
  return CUDA_SUCCESS;
}

driver::Provider graph_driver() {
  seen = {};
  driver::Api api = table_of("sm_90a");
  static const auto launch = api.launch_kernel_ex;
  api.launch_kernel_ex = [](const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
    if (!seen.captures) return launch(config, function, arguments, extra);
    seen.captured.push_back({*config, function, arguments});
    return CUDA_SUCCESS;
  };
  api.stream_begin_capture = [](CUstream, CUstreamCaptureMode) {
    seen.captures = true;
    return CUDA_SUCCESS;
  };
  api.stream_end_capture = [](CUstream, CUgraph* graph) {
    seen.captures = false;
    ++seen.alive[seen.captured.size()];
    *graph = handle<CUgraph>(seen.captured.size());
    return CUDA_SUCCESS;
  };
  api.graph_instantiate = [](CUgraphExec* executable, CUgraph graph, unsigned long long) {
    const auto number = reinterpret_cast<std::size_t>(graph);
    ++seen.alive[number];
    *executable = handle<CUgraphExec>(number);
    return CUDA_SUCCESS;
  };
  api.graph_launch = [](CUgraphExec executable, CUstream stream) {
    Kept& kept = seen.captured[reinterpret_cast<std::size_t>(executable) - 1];
    kept.config.hStream = stream;
    ++seen.replays;
    return launch(&kept.config, kept.function, kept.arguments, nullptr);
  };
  api.graph_destroy = [](CUgraph graph) { return forget(reinterpret_cast<std::size_t>(graph)); };
  api.graph_exec_destroy = [](CUgraphExec executable) { return forget(reinterpret_cast<std::size_t>(executable)); };
  auto table = std::make_shared<const driver::Api>(api);
  return [table]() -> Result<driver::SharedApi> { return table; };
}

TuneResult tuned(Engine& engine, TuneOptions options) {
  Request request{.kernel = "copy"};
  request.dims = {{"N", 3000}};
  request.types = {{"T", DType::f32}};
  const TemporaryFolder folder;
  options.records = folder.path() / "tuned.jsonl";
  options.candidates = 2;
  options.budget_s = 300;
  options.flush_l2 = false;
  const auto results = tune(engine, std::span(&request, 1), options);
  REQUIRE_MESSAGE(results, results.error().text());
  return results->front();
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("Tuning replays launches from graphs if that is asked for, and says so") {
  Options options;
  options.use_cache = false;
  Engine engine = engine_with(options, graph_driver());
  const TuneResult replayed = tuned(engine, {.replay = true});
  REQUIRE_MESSAGE(!replayed.error, replayed.error->text());
  int timed = 0;
  for (const TuneTrial& trial : replayed.trials) timed += trial.launches;
  CHECK(timed > 0);
  CHECK(seen.replays > timed);  // warm-ups, too
  CHECK(replayed.method.find("each replay of a graph of one launch") != std::string::npos);
  for (const auto& [graph, count] : seen.alive) CHECK_MESSAGE(count == 0, graph);

  seen = {};
  const TuneResult launched = tuned(engine, {.again = true});
  CHECK(launched.method.find("each launch of a stream") != std::string::npos);
  CHECK(seen.replays == 0);
}

TEST_CASE("Tuning by graphs fails where the driver has none, and says what to do") {
  Engine engine = emulated_engine("sm_90a");
  const TuneResult result = tuned(engine, {.replay = true});
  REQUIRE(result.error);
  CHECK(result.error->code == ErrorCode::unsupported);
  CHECK(result.error->message.find("has no graphs: measure launches instead") != std::string::npos);
}

TEST_CASE("Work beside what is measured is asked for by its length; if it fails, so does the request") {
  Engine engine = emulated_engine("sm_90a");
  std::vector<double> lengths;
  const TuneResult beside = tuned(engine, {.beside = [&](double us) -> Result<void> {
                                    lengths.push_back(us);
                                    return {};
                                  }});
  REQUIRE_MESSAGE(!beside.error, beside.error->text());
  REQUIRE(lengths.size() > 10);
  CHECK(*std::ranges::min_element(lengths) > 0);
  CHECK(beside.method.find("beside other work") != std::string::npos);

  const TuneResult failed = tuned(engine, {.beside = [](double) -> Result<void> {
                                    return tl::make_unexpected(Error{ErrorCode::io, "no work is left", {}});
                                  }});
  REQUIRE(failed.error);
  CHECK(failed.error->message == "no work is left");
}

TEST_SUITE_END();

}  // namespace tma_jit

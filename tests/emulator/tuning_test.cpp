// Tuning on the emulator: the choice is meaningless there, but the search and its records are tested. Needs NVRTC.
#include <fstream>

#include <tma_jit/tuning.h>

#include "emulator/devices.h"
#include "support/engines.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

Request small_copy() {
  Request request{.kernel = "copy"};
  request.dims = {{"N", 3000}};
  request.types = {{"T", DType::f32}};
  return request;
}

TuneOptions quick(const std::filesystem::path& records) {
  TuneOptions options;
  options.records = records;
  options.candidates = 4;
  options.budget_s = 300;
  options.flush_l2 = false;
  options.least_gain = 0;
  return options;
}

std::vector<TuneResult> tuned(Engine& engine, const Request& request, const TuneOptions& options) {
  auto results = tune(engine, std::vector{request}, options);
  REQUIRE_MESSAGE(results, results.error().text());
  REQUIRE(results->size() == 1);
  REQUIRE_MESSAGE(!results->front().error, results->front().error->text());
  return std::move(*results);
}

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("Tuning measures the preset and others, keeps a record, and plans follow it") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Engine engine = emulated_engine("sm_90a");
  const TuneResult first = tuned(engine, small_copy(), quick(file)).front();
  CHECK_FALSE(first.known);
  REQUIRE(first.trials.size() == 5);
  for (const TuneTrial& trial : first.trials)
    CHECK_MESSAGE(trial.outcome == TuneTrial::Outcome::measured, trial.reason);
  CHECK(first.record.us > 0);
  CHECK(first.record.preset_us > 0);
  REQUIRE(read_tuning_file(file)->records.size() == 1);

  const auto plan = engine.plan(small_copy());
  REQUIRE(plan);
  CHECK(plan->record.find("tuned in this process") == 0);
  for (const auto& [name, value] : plan->config) CHECK(first.record.params.at(name) == value);

  const TuneResult second = tuned(engine, small_copy(), quick(file)).front();
  CHECK(second.known);
  CHECK(second.trials.empty());
  CHECK(second.record == read_tuning_file(file)->records.front());
}

TEST_CASE("Another engine follows the file; a record of another text or a pinned request does not count") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Engine engine = emulated_engine("sm_90a");
  TuningRecord record = tuned(engine, small_copy(), quick(file)).front().record;
  record.params["THREADS"] = 128;
  const auto planned_threads = [&](const Request& request) {
    Options options;
    options.device = Device::parse("emulator:sm_90a").value();
    options.tuning.records = {file};
    const auto plan = Engine(options).plan(request);
    REQUIRE(plan);
    for (const auto& [name, value] : plan->config) {
      if (name == "THREADS") return std::pair(value, plan->record);
    }
    return std::pair(std::int64_t{0}, plan->record);
  };
  REQUIRE(merge_tuning_file(file, std::vector{record}));
  CHECK(planned_threads(small_copy()).first == 128);
  CHECK(planned_threads(small_copy()).second.find(file.string()) == 0);
  Request near = small_copy();
  near.dims["N"] = 3100;
  CHECK(planned_threads(near).second.find("measured with N=3000") != std::string::npos);
  Request pinned = small_copy();
  pinned.params["THREADS"] = 256;
  CHECK(planned_threads(pinned) == std::pair(std::int64_t{256}, std::string()));
  record.digest = "0000000000000000";
  REQUIRE(merge_tuning_file(file, std::vector{record}));
  CHECK(planned_threads(small_copy()).second.empty());
}

TEST_CASE("A wrong configuration is told and never chosen") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Options options;
  options.device = Device::parse("emulator:sm_90a").value();
  Engine engine(options);
  REQUIRE(engine.add_template("wrong.cu", R"(//! kernel wrong
//! arch sm_90a
//! dim N
//! param OFF = 0 in {0, 1}
//! tensor Y : f32[N] out
//! launch grid 1 block 32
extern "C" __global__ void wrong(View<f32, 1> Y, const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 32) Y.data[i] = i + OFF;
}
)"));
  Request request{.kernel = "wrong"};
  request.dims = {{"N", 100}};
  const TuneResult result = tuned(engine, request, quick(file)).front();
  REQUIRE(result.trials.size() == 2);
  CHECK(result.trials[1].outcome == TuneTrial::Outcome::disagrees);
  CHECK(result.trials[1].launches == 0);
  CHECK(result.record.params.at("OFF") == 0);
}

TEST_CASE("A configuration that does not compile is ruled out") {
  const TemporaryFolder folder;
  Options options;
  options.device = Device::parse("emulator:sm_90a").value();
  Engine engine(options);
  REQUIRE(engine.add_template("half.cu", R"(//! kernel half
//! arch sm_90a
//! dim N
//! param BAD = 0 in {0, 1}
//! tensor Y : f32[N] out
//! launch grid 1 block 32
static_assert(BAD == 0, "not this one");
extern "C" __global__ void half(View<f32, 1> Y, const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 32) Y.data[i] = i;
}
)"));
  Request request{.kernel = "half"};
  request.dims = {{"N", 64}};
  const TuneResult result = tuned(engine, request, quick(folder.path() / "tuned.jsonl")).front();
  REQUIRE(result.trials.size() == 2);
  CHECK(result.trials[1].outcome == TuneTrial::Outcome::failed);
  CHECK_FALSE(result.trials[1].reason.empty());
  CHECK(result.record.params.at("BAD") == 0);
}

TEST_CASE("Bad input to tuning is an error that says what, and loses no other request") {
  const TemporaryFolder folder;
  Engine engine = emulated_engine("sm_90a");
  TuneOptions options = quick(folder.path() / "tuned.jsonl");
  options.budget_s = 0;
  CHECK(tune(engine, std::vector{small_copy()}, options).error().code == ErrorCode::invalid_argument);
  options = quick(folder.path() / "tuned.jsonl");
  const auto results = tune(engine, std::vector{Request{.kernel = "absent"}, small_copy()}, options);
  REQUIRE(results);
  REQUIRE(results->size() == 2);
  REQUIRE(results->front().error);
  CHECK(results->front().error->code == ErrorCode::not_found);
  CHECK_FALSE(results->back().error);
  options.progress = [](const TuneProgress&) { return false; };
  options.again = true;
  const auto ended = tune(engine, std::vector{small_copy(), small_copy()}, options);
  REQUIRE(ended);
  CHECK(ended->size() == 1);
  Options planning;
  planning.device = Device::known("h100");
  Engine no_device(planning);
  CHECK_FALSE(tune(no_device, std::vector{small_copy()}, options));
}

TEST_CASE(
    "The record of a request is in the file before the next one begins, so that a kill loses no finished measurement") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Engine engine = emulated_engine("sm_90a");
  TuneOptions options = quick(file);
  Request other = small_copy();
  other.dims["N"] = 5000;
  std::size_t records_before_second = 0;
  options.progress = [&](const TuneProgress& now) {
    if (now.request == 0) return true;
    records_before_second = read_tuning_file(file)->records.size();
    return false;
  };
  REQUIRE(tune(engine, std::vector{small_copy(), other}, options));
  CHECK(records_before_second == 1);
}

TEST_CASE("A budget that ends at once still measures the preset") {
  const TemporaryFolder folder;
  Engine engine = emulated_engine("sm_90a");
  TuneOptions options = quick(folder.path() / "tuned.jsonl");
  options.budget_s = 1e-6;
  const TuneResult result = tuned(engine, small_copy(), options).front();
  CHECK(result.trials.front().outcome == TuneTrial::Outcome::measured);
  CHECK(result.trials.back().outcome == TuneTrial::Outcome::out_of_time);
  CHECK(result.gain == 0);
}

TEST_SUITE_END();

// Tuning on the emulator: the choice is meaningless there, but the search and its records are tested. Needs NVRTC.
#include <fstream>
#include <map>
#include <thread>

#include <tma_jit/tuning.h>

#include "emulator/devices.h"
#include "emulator/tuning_requests.h"
#include "support/engines.h"
#include "support/temporary_folder.h"
#include "tuning/file_lock.h"

#include <doctest/doctest.h>

using namespace tma_jit;
using namespace tma_jit::testing;

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

TEST_CASE("Tuning takes tensors whose rows and indices lie backwards") {
  const TemporaryFolder folder;
  Engine engine = emulated_engine("sm_90a");
  constexpr std::int64_t kRows = 40, kColumns = 300, kPitch = 320;
  const std::uint64_t aligned = 1 << 20;  // the tensors' memory is tuning's own
  const Tensor rows = Tensor::strided(aligned, DType::f32, {kRows, kColumns}, {-kPitch, 1});
  const Request request{
      .kernel = "gather",
      .tensors = {{"S", rows}, {"I", Tensor::strided(aligned, DType::s32, {kRows}, {-1})}, {"D", rows}}};
  const TuneResult result = tuned(engine, request, quick(folder.path() / "tuned.jsonl")).front();
  REQUIRE(result.trials.size() > 1);
  for (const TuneTrial& trial : result.trials)
    CHECK_MESSAGE(trial.outcome == TuneTrial::Outcome::measured, trial.reason);
}

TEST_CASE("Tuning makes the cache folder that it writes to, which the cache uses from then on") {
  const TemporaryFolder folder;
  Options options;
  options.device = Device::parse("emulator:sm_90a").value();
  options.cache_dir = folder.path() / "new" / "cache";
  TestLog log;
  options.log = log.callback();
  Engine engine(options);
  CHECK_FALSE(tuned(engine, small_copy(), quick({})).front().known);
  CHECK(read_tuning_file(tuning_file(engine))->records.size() == 1);
  CHECK(tuned(engine, small_copy(), quick({})).front().known);
  CHECK(engine.prepare(small_copy()));
  CHECK(log.warnings().empty());
  CHECK(std::filesystem::status(options.cache_dir).permissions() == std::filesystem::perms::owner_all);
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

TEST_CASE("Tuning of a request that names a file decides no request") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Engine engine = emulated_engine("sm_90a");
  Request named = small_copy();
  named.dims = {{"M", 1}, {"N", 3000}};
  named.file = "copy_rows";
  const TuneResult result = tuned(engine, named, quick(file)).front();
  CHECK(result.record.file == "copy_rows");
  CHECK(read_tuning_file(file)->records.empty());
  Request open = named;
  open.file.clear();
  const auto after = engine.plan(open);
  REQUIRE(after);
  CHECK(after->record.empty());
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

TEST_CASE("A configuration that was ruled out is remembered, and one that was measured is until there is a record") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Options options;
  options.device = Device::parse("emulator:sm_90a").value();
  Engine engine(options);
  REQUIRE(engine.add_template("some.cu", R"(//! kernel some
//! arch sm_90a
//! dim N
//! param WAY = 0 in {0, 1, 2, 3}
//! tensor Y : f32[N] out
//! launch grid 1 block 32
static_assert(WAY != 1, "not this one");
extern "C" __global__ void some(View<f32, 1> Y, const Dims dims) {
  for (int i = threadIdx.x; i < dims.N; i += 32) Y.data[i] = WAY == 2 ? 7.0f : 1.0f * i;
}
)"));
  Request request{.kernel = "some"};
  request.dims = {{"N", 64}};
  TuneOptions stopped = quick(file);
  stopped.progress = [](const TuneProgress& now) { return now.trial < 3; };  // two of the three others are looked at
  (void)tune(engine, std::vector{request}, stopped);
  CHECK(std::filesystem::exists(folder.path() / "tuned.jsonl.trials"));
  TuneOptions again = quick(file);
  again.again = true;
  for (int turn = 0; turn < 2; ++turn) {
    const TuneResult result = tuned(engine, request, again).front();
    REQUIRE(result.trials.size() == 4);
    CHECK(result.trials[1].outcome == TuneTrial::Outcome::failed);
    CHECK(result.trials[2].outcome == TuneTrial::Outcome::disagrees);
    CHECK(result.trials[2].reproducer == "tma-jit run some N=64 WAY=2 --template-file some --check");
    CHECK(result.trials[3].outcome == TuneTrial::Outcome::measured);
    CHECK(result.method.find("in turns with the planned configuration") != std::string::npos);
    if (turn == 0) continue;
    CHECK(result.trials[1].reason.find(", as an earlier tuning found") != std::string::npos);
    CHECK(result.trials[2].reason.find(", as an earlier tuning found") != std::string::npos);
  }
}

TEST_CASE("A request without a valid configuration is an error that names the rules, and the others are tuned") {
  const TemporaryFolder folder;
  Engine engine = emulated_engine("sm_90a");
  Request impossible{.kernel = "gemm"};
  impossible.dims = {{"M", 64}, {"N", 64}, {"K", 64}};
  impossible.params = {{"BM", 64}, {"BN", 256}, {"STAGES", 100}};
  Request unmet{.kernel = "gemm"};
  unmet.dims = {{"M", 0}, {"N", 64}, {"K", -1}};
  const auto results = tune(engine, std::vector{impossible, unmet, small_copy()}, quick(folder.path() / "tuned.jsonl"));
  REQUIRE(results);
  REQUIRE(results->size() == 3);
  CHECK(results->at(0).error);
  CHECK(results->at(1).error);
  CHECK(results->at(0).error->text().find("STAGES") != std::string::npos);
  CHECK_FALSE(results->at(2).error);
  CHECK(read_tuning_file(folder.path() / "tuned.jsonl")->records.size() == 1);
}

TEST_CASE("Known requests need no device, and the first that must be measured without one ends the tuning") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Engine emulated = emulated_engine("sm_90a");
  TuningRecord record = tuned(emulated, small_copy(), quick(file)).front().record;
  const DeviceInfo h100 = device_named("h100").value();
  record.device = h100.name;
  record.sm_count = h100.sm_count;
  REQUIRE(merge_tuning_file(file, std::vector{record}));
  Options planning;
  planning.device = Device::known("h100");
  Engine engine(planning);
  const auto known = tune(engine, std::vector{small_copy(), small_copy()}, quick(file));
  REQUIRE_MESSAGE(known, known.error().text());
  CHECK(known->size() == 2);
  CHECK(known->back().known);
  CHECK(known->back().record.params == record.params);
  Request other = small_copy();
  other.dims["N"] = 7000;
  CHECK_FALSE(tune(engine, std::vector{small_copy(), other}, quick(file)));
}

TEST_CASE(
    "A process waits beyond its own share for a record, also while the one that made it measures something else") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Engine engine = emulated_engine("sm_90a");
  const TuningRecord record = tuned(engine, small_copy(), quick(folder.path() / "other.jsonl")).front().record;
  const auto lock = tuning::FileLock::take(file, ".tuning", std::chrono::steady_clock::now());
  REQUIRE(lock);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(merge_tuning_file(file, std::vector{record}));
  });
  TuneOptions options = quick(file);
  options.budget_s = 1e-3;
  const auto results = tune(engine, std::vector{small_copy()}, options);
  other.join();
  REQUIRE_MESSAGE(results, results.error().text());
  REQUIRE_MESSAGE(!results->front().error, results->front().error->text());
  CHECK(results->front().known);
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

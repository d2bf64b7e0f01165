// Starts with records present: what they cost, and that the short way to a recorded plan leads to the same plan.
#include <ctime>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <tma_jit/json.h>
#include <tma_jit/tuning.h>
#include <tma_jit/warm_list.h>

#include "support/combinations.h"
#include "support/temporary_folder.h"
#include "tuning/problem_key.h"
#include "tuning/written_record.h"

namespace tma_jit {
namespace {

Engine planning_engine(TuningPolicy policy, std::vector<std::filesystem::path> records = {}) {
  Options options;
  options.device = Device::known("h200");
  options.use_cache = false;
  options.tuning.policy = policy;
  options.tuning.records = std::move(records);
  return Engine(std::move(options));
}

std::vector<Request> gemms(std::int64_t count) {
  std::vector<Request> requests;
  for (std::int64_t i = 0; i < count; ++i) {
    Request& request = requests.emplace_back();
    request.kernel = "gemm";
    request.dims = {{"M", 64 + 8 * i}, {"N", 4096}, {"K", 4096}};
  }
  return requests;
}

// `plan` is one that the engine made of a request that the record shall decide.
TuningRecord record_of(Engine& engine, const Plan& plan) {
  TuningRecord record = tuning::problem_of(plan, device_named("h200").value());
  record.file = std::filesystem::path(plan.file).stem();
  record.params = {plan.config.begin(), plan.config.end()};
  record.digest = tuning::digest_of(plan, engine.emit(plan).value());
  record.us = 10;
  record.preset_us = 11;
  return record;
}

double thread_microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

// A bound by planning without records holds in builds with sanitizers, too, and on machines with other work.
TEST_CASE("a start plans a hundred shapes by their records in a fraction of the time of planning them") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tuned.jsonl";
  Engine off = planning_engine(TuningPolicy::off);
  const std::vector<Request> requests = gemms(100);
  REQUIRE(off.plan(requests.front()));
  double start = thread_microseconds();
  std::vector<Plan> plans;
  for (const Request& request : requests) plans.push_back(off.plan(request).value());
  const double without = thread_microseconds() - start;
  std::vector<TuningRecord> records;
  for (const Plan& plan : plans) records.push_back(record_of(off, plan));
  REQUIRE(merge_tuning_file(file, records));
  for (int turn = 0; turn < 3; ++turn) {
    start = thread_microseconds();
    Engine engine = planning_engine(TuningPolicy::records, {file});
    const double making = thread_microseconds() - start;
    start = thread_microseconds();
    REQUIRE(engine.plan(requests.front()));
    const double first = thread_microseconds() - start;
    start = thread_microseconds();
    for (const Request& request : requests) {
      const auto plan = engine.plan(request);
      REQUIRE(plan);
      CHECK(plan->record.starts_with(file.string()));
    }
    const double all = thread_microseconds() - start;
    MESSAGE("an engine takes " << making << " us, its first plan, which reads the records, " << first
                               << " us, 100 plans " << all << " us, without records " << without << " us");
    CHECK(all * 2 < without);
  }
}

// The long way goes by the plan without records, which names another file than the record where that one is cheaper.
TEST_CASE("a record leads to the plan of its configuration, bit for bit, whatever the planner would choose") {
  Engine off = planning_engine(TuningPolicy::off);
  struct Asked {
    const char* kernel;
    std::map<std::string, std::int64_t> dims;
  };
  const std::vector<Asked> asked = {{"copy", {{"N", 1 << 20}}},
                                    {"gemm", {{"M", 8}, {"N", 4096}, {"K", 4096}}},
                                    {"gemm", {{"M", 300}, {"N", 512}, {"K", 712}}},
                                    {"softmax", {{"M", 100}, {"N", 1000}}},
                                    {"rms_norm", {{"M", 64}, {"N", 4096}}},
                                    {"transpose", {{"B", 1}, {"M", 100}, {"N", 1000}}}};
  int alike = 0;
  for (const Asked& one : testing::sampled(asked, 3)) {
    Request request;
    request.kernel = one.kernel;
    request.dims = one.dims;
    const auto preset = off.plan(request);
    REQUIRE_MESSAGE(preset, preset.error().text());
    const auto candidates = off.candidates(request, 6);
    REQUIRE(candidates);
    for (const Candidate& candidate : *candidates) {
      Request pinned = request;
      pinned.file = candidate.file;
      pinned.types = candidate.types;
      pinned.params = {candidate.params.begin(), candidate.params.end()};
      const auto wanted = off.plan(pinned);
      REQUIRE(wanted);
      TuningRecord record = record_of(off, *wanted);
      const TuningRecord problem = tuning::problem_of(*preset, device_named("h200").value());
      record.types = problem.types;  // as tuning keys it
      record.dims = problem.dims;
      record.hooks = problem.hooks;
      record.pins = problem.pins;
      Engine following = planning_engine(TuningPolicy::records);
      following.follow({record});
      auto plan = following.plan(request);
      REQUIRE(plan);
      CHECK(plan->record.starts_with("tuned in this process"));
      plan->record.clear();
      CHECK(json_of(*plan) == json_of(*wanted));
      ++alike;
    }
  }
  MESSAGE(alike << " plans by records");
}

TEST_CASE("a record decides the requests that pin the same params as the one it was measured for, and no others") {
  Engine off = planning_engine(TuningPolicy::off);
  Request open, greatest, exclusive;
  open.kernel = "scan";
  open.dims = {{"M", 16}, {"N", 1024}};
  greatest = exclusive = open;
  greatest.params = {{"OP", 2}};
  exclusive.params = {{"OP", 2}, {"EXCLUSIVE", 1}};
  const auto measured = off.plan(greatest);
  REQUIRE(measured);
  const TuningRecord record = record_of(off, *measured);
  CHECK(record.pins == greatest.params);
  const std::string line = tuning_line(record);
  CHECK(tuning::read_written(line));
  CHECK(parse_tuning_line(line).value() == record);
  CHECK(parse_tuning_line(line + " ").value() == record);  // which the JSON parser reads

  Engine following = planning_engine(TuningPolicy::records);
  following.follow({record});
  CHECK(following.plan(greatest)->record.starts_with("tuned in this process"));
  CHECK(following.plan(greatest)->pins == greatest.params);
  Request near = greatest;
  near.dims["M"] = 17;
  CHECK(following.plan(near)->record.starts_with("tuned in this process"));
  for (const Request& other : {open, exclusive}) {
    const auto plan = following.plan(other);
    REQUIRE(plan);
    CHECK(plan->record.empty());
    CHECK(json_of(*plan) == json_of(*off.plan(other)));
  }
  CHECK(warm_line(*measured).find(R"("pins":{"OP":2})") != std::string::npos);
  CHECK(parse_warm_line(warm_line(*measured))->pins == greatest.params);
}

}  // namespace tma_jit

// Tunes requests one after the other and records the results.
#include <algorithm>
#include <cmath>

#include "core/failure.h"
#include "core/sm_budget.h"
#include "tuning/contest.h"
#include "tuning/file_lock.h"
#include "tuning/pinned.h"
#include "tuning/problem_key.h"
#include "tuning/record_file.h"
#include "tuning/template_digests.h"
#include "tuning/tuner.h"

namespace tma_jit {
namespace {

using tuning::Clock;
using tuning::pinned;

constexpr std::uint64_t kAddressAlignment = 256;  // alignments of addresses are considered up to this
constexpr double kSecondsMax = 1e9;               // about thirty years, which a time point can hold

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Clock::time_point after(double seconds) {
  const std::chrono::duration<double> wait(std::clamp(seconds, 0.0, kSecondsMax));
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

Request without_addresses(Request request) {
  for (NamedTensor& named : request.tensors) named.tensor.address %= kAddressAlignment;
  return request;
}

std::string words_of(const Result<int>& driver) {
  return driver ? fmt::format("{}.{}", *driver / 1000, *driver % 1000 / 10) : std::string();
}

class Tuning {
 public:
  Tuning(Engine& engine, std::size_t requests, const TuneOptions& options, const tuning::Conduct& conduct,
         DeviceInfo device)
      : engine_(engine),
        options_(options),
        conduct_(conduct),
        records_(options.records.empty() ? tuning_file(engine) : options.records),
        file_(records_),
        device_(std::move(device)),
        requests_(requests) {}

  bool ended() const { return ended_; }
  const std::vector<TuningRecord>& found() const { return found_; }

  TuneResult tune(const Request& request) {
    const auto start = Clock::now();
    TuneResult result;
    result.request = request;
    if (const auto done = tune(without_addresses(request), result); !done) result.error = done.error();
    result.seconds = seconds_since(start);
    ++at_;
    return result;
  }

 private:
  Result<void> tune(const Request& request, TuneResult& result) {
    until_ = after(share());
    TMA_JIT_ASSIGN(const Plan plan, engine_.plan(request));
    const TuningRecord problem = tuning::problem_of(plan, within_budget(device_, request));
    TMA_JIT_ASSIGN(const bool was_known, take_known(request, problem, result));
    if (was_known) return {};
    if (records_.empty()) return contest(request, problem, result);
    TMA_JIT_ASSIGN([[maybe_unused]] const tuning::FileLock lock,
                   tuning::FileLock::take(records_, ".tuning", until_, conduct_.stopped));
    TMA_JIT_ASSIGN(const bool is_known, take_known(request, problem, result));
    return is_known ? Result<void>() : contest(request, problem, result);
  }

  // Uses an existing record of the problem for the current template, made earlier or meanwhile by another process.
  Result<bool> take_known(const Request& request, const TuningRecord& problem, TuneResult& result) {
    if (records_.empty() || options_.again) return false;
    TMA_JIT_ASSIGN(const tuning::SharedLayer layer, file_.layer());
    const auto record = layer->of(problem);
    if (!record) return false;
    const Result<Plan> plan = engine_.plan(pinned(request, *record));
    if (!plan || !is_current(*record, *plan)) return false;
    result.record = *record;
    result.known = true;
    result.gain = record->preset_us / record->us - 1;
    found_.push_back(*record);
    return true;
  }

  // Returns whether the template is the one that was measured.
  bool is_current(const TuningRecord& record, const Plan& plan) {
    if (const auto known = digests_.find(plan)) return *known == record.digest;
    const Result<Source> source = engine_.emit(plan);
    if (!source) return false;
    digests_.keep(plan, tuning::digest_of(plan, *source));
    return digests_.find(plan) == record.digest;
  }

  Result<void> contest(const Request& request, const TuningRecord& problem, TuneResult& result) {
    TMA_JIT_ASSIGN(std::vector<Candidate> candidates, engine_.candidates(request, options_.candidates + 1));
    TMA_JIT_ASSIGN(tuning::Contest contest,
                   tuning::Contest::prepare(engine_, request, std::move(candidates), conduct_));
    const tuning::ContestSettings settings{
        until_, options_.flush_l2, [this](std::size_t trial, std::size_t trials) { return tell(trial, trials); }};
    const auto verdict = contest.run(settings, options_.least_gain);
    compiles_ = contest.release_compiles();  // waits for those of the contest before
    result.trials = contest.trials();
    if (!verdict) return tl::make_unexpected(verdict.error());
    const Candidate& winner = result.trials[verdict->winner].candidate;
    result.record = record_of(problem, winner, *verdict);
    result.gain = verdict->preset_us / verdict->us - 1;
    TMA_JIT_ASSIGN(const Plan plan, engine_.plan(pinned(request, winner)));  // its file may have fewer types
    TMA_JIT_ASSIGN(const Source source, engine_.emit(plan));
    result.record.digest = tuning::digest_of(plan, source);
    found_.push_back(result.record);
    return records_.empty() ? Result<void>() : merge_tuning_file(records_, std::span(&result.record, 1));
  }

  TuningRecord record_of(TuningRecord problem, const Candidate& winner, const tuning::Verdict& verdict) {
    if (!environment_) environment_ = engine_.environment();  // which opens the compiler
    problem.file = winner.file;
    problem.params = {winner.params.begin(), winner.params.end()};
    problem.us = verdict.us;
    problem.preset_us = verdict.preset_us;
    problem.driver = words_of(environment_->driver_version);
    if (environment_->compiler) problem.compiler = environment_->compiler->version;
    return problem;
  }

  bool tell(std::size_t trial, std::size_t trials) {
    if (!options_.progress) return true;
    ended_ = ended_ || !options_.progress({at_, requests_, trial, trials, seconds_since(start_), options_.budget_s});
    return !ended_;
  }

  // Returns the seconds of the budget for the current request.
  double share() const { return (options_.budget_s - seconds_since(start_)) / static_cast<double>(requests_ - at_); }

  Engine& engine_;
  const TuneOptions& options_;
  const tuning::Conduct& conduct_;
  const std::filesystem::path records_;
  tuning::RecordFile file_;          // `records_`
  tuning::TemplateDigests digests_;  // of templates, whose texts are not expected to change in between
  const DeviceInfo device_;
  std::optional<Environment> environment_;  // known once something was measured
  const Clock::time_point start_ = Clock::now();
  const std::size_t requests_;
  Clock::time_point until_;                         // of the current request
  std::unique_ptr<tuning::CompileAhead> compiles_;  // of the last contest; some may go on, and use the engine
  std::size_t at_ = 0;
  bool ended_ = false;
  std::vector<TuningRecord> found_;
};

Result<void> check(const TuneOptions& options) {
  if (!(options.budget_s > 0)) {
    return failure(ErrorCode::invalid_argument, "tune: a budget of {} seconds; more than 0 are needed",
                   options.budget_s);
  }
  if (!(options.least_gain >= 0)) {
    return failure(ErrorCode::invalid_argument, "tune: a least gain of {}; 0 or more is needed", options.least_gain);
  }
  return {};
}

}  // namespace

const char* name_of(TuneTrial::Outcome outcome) {
  switch (outcome) {
    case TuneTrial::Outcome::measured: return "measured";
    case TuneTrial::Outcome::failed: return "failed";
    case TuneTrial::Outcome::spills: return "spills";
    case TuneTrial::Outcome::disagrees: return "disagrees";
    case TuneTrial::Outcome::out_of_time: return "out of time";
  }
  return "";
}

namespace tuning {
namespace {

thread_local int tunings_here = 0;

// Counts a tuning of this thread.
class TuningHere {
 public:
  TuningHere() { ++tunings_here; }
  ~TuningHere() { --tunings_here; }
  TuningHere(const TuningHere&) = delete;
  TuningHere& operator=(const TuningHere&) = delete;
};

}  // namespace

bool tuning_in_this_thread() {
  return tunings_here > 0;
}

Result<std::vector<TuneResult>> tune(Engine& engine, std::span<const Request> requests, const TuneOptions& options,
                                     const Conduct& conduct) {
  const TuningHere here;
  TMA_JIT_CHECK(check(options));
  TMA_JIT_ASSIGN(DeviceInfo device, engine.device());
  Tuning tuning(engine, requests.size(), options, conduct, std::move(device));
  std::vector<TuneResult> results;
  for (const Request& request : requests) {
    if (tuning.ended()) break;
    results.push_back(tuning.tune(request));
  }
  engine.follow(tuning.found());
  return results;
}

}  // namespace tuning

Result<std::vector<TuneResult>> tune(Engine& engine, std::span<const Request> requests, const TuneOptions& options) {
  TMA_JIT_CHECK(check(options));
  TMA_JIT_CHECK(synchronize(engine));  // fails here if there is no device
  return tuning::tune(engine, requests, options, {});
}

}  // namespace tma_jit

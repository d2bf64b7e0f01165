// Tunes requests one after the other and records the results.
#include <algorithm>
#include <cmath>
#include <future>
#include <thread>

#include "core/failure.h"
#include "core/sm_budget.h"
#include "tuning/build_ahead.h"
#include "tuning/conditions.h"
#include "tuning/contest.h"
#include "tuning/file_lock.h"
#include "tuning/pinned.h"
#include "tuning/problem_key.h"
#include "tuning/record_file.h"
#include "tuning/trial_log.h"
#include "tuning/tuner.h"

namespace tma_jit {
namespace {

using tuning::Clock;
using tuning::pinned;

constexpr std::uint64_t kAddressAlignment = 256;  // alignments of addresses are considered up to this
constexpr double kSecondsMax = 1e9;               // about thirty years, which a time point can hold
constexpr double kOverrun = 10;  // seconds by which a process may exceed its share: what is in progress when it is used
                                 // up, and the planned configuration, which is always compiled and measured

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

class Tuning {
 public:
  Tuning(Engine& engine, std::span<const Request> requests, const TuneOptions& options, const tuning::Conduct& conduct,
         DeviceInfo device)
      : engine_(engine),
        options_(options),
        conduct_(conduct),
        records_(options.records.empty() ? tuning_file(engine) : options.records),
        file_(records_),
        device_(std::move(device)),
        requests_(requests) {
    conduct_.replay = options.replay;
    conduct_.beside = options.beside;
  }

  bool ended() const { return ended_ || !fault_; }
  // Returns the error that ended the tuning of all requests, if there is one.
  const Result<void>& fault() const { return fault_; }
  // Return what plans may follow from now on: what was measured, and the lines of what was known.
  std::vector<TuningRecord>& found() { return found_; }
  std::vector<tuning::SharedLine>& known() { return known_; }

  void tune(const Request& request, TuneResult& result) {
    request_begin_ = Clock::now();
    result.request = request;
    if (const auto done = find_or_measure(request, result); !done) result.error = done.error();
    result.seconds = seconds_since(request_begin_);
    ++at_;
  }

 private:
  Result<void> find_or_measure(const Request& request, TuneResult& result) {
    const bool together = options_.exchange.fetch || options_.exchange.publish;
    if (!together) {
      TMA_JIT_ASSIGN(const bool known, take_known(request, result, false));
      if (known) return {};
    }
    until_ = after(share());
    return together ? tune_together(request, result) : measure_in_turn(request, result);
  }

  // Takes what another process published, or publishes what this one knows or measures.
  Result<void> tune_together(const Request& request, TuneResult& result) {
    const TuneExchange& exchange = options_.exchange;
    TMA_JIT_ASSIGN(const std::string problem, name_of_problem(request));
    if (exchange.fetch) {
      TMA_JIT_ASSIGN(const auto line, exchange.fetch(problem, exchange.publish ? 0 : patience()));
      TMA_JIT_ASSIGN(const bool taken, take_published(request, line, result));
      if (taken) return {};
    }
    Result<bool> done = take_known(request, result, false);
    if (done && !*done) done = measure_in_turn(request, result).map([] { return true; });
    TMA_JIT_CHECK(exchange.publish(problem, done ? tuning_line(result.record) : std::string()));
    return done ? Result<void>() : tl::make_unexpected(done.error());
  }

  // Returns false if there is none, and this process shall measure. Without that it fails.
  Result<bool> take_published(const Request& request, const std::optional<std::string>& line, TuneResult& result) {
    const bool may_measure = static_cast<bool>(options_.exchange.publish);
    std::string why = line ? "the process that tunes it could not" : "no other process published a record in time";
    if (line && !line->empty()) {
      const auto record = parse_tuning_line(*line);
      tuning::RecordBook book;
      if (record) book.add_layer("published", {*record});
      auto known = record && conduct_.known ? conduct_.known(request, book) : std::nullopt;
      if (known) {
        use_known(*std::move(known), result);
        TMA_JIT_CHECK(write(result.record));
        return true;
      }
      why = record ? "the published record is of another problem or template" : record.error().message;
    }
    if (may_measure) return false;
    return failure(ErrorCode::not_found, "{} is not tuned: {}", request.kernel, why);
  }

  Result<std::string> name_of_problem(const Request& request) {
    TMA_JIT_ASSIGN(const Plan plan, engine_.plan(without_addresses(request)));
    const std::string stem = std::filesystem::path(plan.file).stem();
    const std::string digest = conduct_.digest ? conduct_.digest(request, stem) : std::string();
    return tuning::short_digest(tuning::problem_key(problem_of(plan, request)) + "\n" + digest);
  }

  TuningRecord problem_of(const Plan& plan, const Request& request) const {
    return tuning::problem_of(plan, within_budget(device_, request),
                              tuning::conditions_of(request, conduct_.conditions));
  }

  // Measures, unless another process of this machine has meanwhile. That one may go on with the next request before
  // this one sees the lock free, so that its record ends the wait, too.
  Result<void> measure_in_turn(const Request& request, TuneResult& result) {
    if (records_.empty()) return contest(without_addresses(request), result);
    TMA_JIT_CHECK(make_folder());
    bool known = false;
    const auto ends = [&] {
      known = take_known(request, result, true).value_or(false);
      return known || (conduct_.stopped && conduct_.stopped());
    };
    const auto lock = tuning::FileLock::take(records_, ".tuning", after(patience()), ends);
    if (known) return {};
    if (!lock) return tl::make_unexpected(lock.error());
    TMA_JIT_ASSIGN(known, take_known(request, result, true));
    return known ? Result<void>() : contest(without_addresses(request), result);
  }

  // Uses an existing record of the problem for the current template; `again`: also one that another process has made
  // meanwhile.
  Result<bool> take_known(const Request& request, TuneResult& result, bool again) {
    TMA_JIT_ASSIGN(std::optional<tuning::Advice> advice, find_known(request, again));
    if (!advice) return false;
    use_known(*std::move(advice), result);
    return true;
  }

  Result<std::optional<tuning::Advice>> find_known(const Request& request, bool again) {
    if (records_.empty() || options_.again || !conduct_.known) return std::nullopt;
    TMA_JIT_ASSIGN(const tuning::RecordBook* const book, file_.book(again));
    return conduct_.known(request, *book);
  }

  void use_known(tuning::Advice advice, TuneResult& result) {
    if (!advice.line.text.empty()) {
      known_.push_back(std::move(advice.line));
    } else {
      found_.push_back(advice.record);
    }
    result.record = std::move(advice.record);
    result.known = true;
    result.gain = result.record.preset_us / result.record.us - 1;
  }

  // Fails, and ends the whole tuning, if there is nothing to measure on.
  Result<void> begin() {
    if (begun_) return {};
    if (conduct_.begin) fault_ = conduct_.begin();
    if (!fault_ || conduct_.side != nullptr) return fault_;
    auto side = SideStream::create(engine_, options_.flush_l2);
    if (!side) return fault_ = tl::make_unexpected(side.error());
    side_.emplace(*std::move(side));
    conduct_.side = &*side_;
    begun_ = true;
    return {};
  }

  Result<void> contest(const Request& request, TuneResult& result) {
    std::future<std::string> opening;  // the compiler is opened while the driver is
    if (!compiler_ && conduct_.compiler) opening = std::async(std::launch::async, conduct_.compiler);
    TMA_JIT_CHECK(begin());
    if (next_ == nullptr || next_at_ != at_) build(at_, request, processors());
    TMA_JIT_ASSIGN(std::vector<Candidate> candidates, candidates_of(request));
    TMA_JIT_ASSIGN(tuning::Contest contest,
                   tuning::Contest::prepare(engine_, request, std::move(candidates), conduct_));
    TuningRecord problem = problem_of(contest.plan(), request);
    problem.pins = request.params;  // of the plan, which is a candidate's, all params are
    if (!compiler_) compiler_ = opening.valid() ? opening.get() : std::string();
    tuning::TrialLog log(tuning::trial_file(records_), tuning::problem_key(problem) + "\n" + *compiler_);
    const tuning::ContestSettings settings{
        request_begin_,          until_,
        options_.flush_l2,       [this](std::size_t trial, std::size_t trials) { return tell(trial, trials); },
        memory_of(log, request), [this] { build_next(); }};
    const auto verdict = contest.run(settings, options_.least_gain);
    compiles_ = contest.release_compiles();  // waits for those of the contest before
    result.trials = contest.trials();
    if (!verdict) return tl::make_unexpected(verdict.error());
    result.method = contest.method(settings, *verdict);
    result.drift = verdict->drift;
    result.gain = verdict->preset_us / verdict->us - 1;
    result.record = record_of(problem, request, result.trials[verdict->winner].candidate, *verdict);
    if (tuning::is_open(request)) {  // else its choice is the best of one file, and no plan would follow it
      found_.push_back(result.record);
      TMA_JIT_CHECK(write(result.record));
    }
    log.settle();
    return {};
  }

  static std::size_t processors() { return std::max(1U, std::thread::hardware_concurrency()); }

  // Lets kernels of a request, whose number is given, be compiled before its contest asks for them.
  void build(std::size_t at, const Request& request, std::size_t threads) {
    next_.reset();
    if (conduct_.compile_threads != 0) return;
    next_at_ = at;
    next_ =
        std::make_unique<tuning::BuildAhead>(engine_, request, options_.candidates + 1, threads, conduct_.ready_worker);
  }

  void build_next() {
    next_.reset();
    if (at_ + 1 >= requests_.size()) return;
    const Request& request = requests_[at_ + 1];
    if (const auto known = find_known(request, false); !known || *known) return;
    build(at_ + 1, without_addresses(request), std::max<std::size_t>(1, processors() * 3 / 4));
  }

  // Takes the list from what builds ahead, which begins no more then: the contest compiles.
  Result<std::vector<Candidate>> candidates_of(const Request& request) {
    if (next_ == nullptr) return engine_.candidates(request, options_.candidates + 1);
    auto candidates = next_->candidates();
    next_->stop();
    return candidates;
  }

  // A folder that the application names is its own to make.
  Result<void> make_folder() {
    return options_.records.empty() && conduct_.make_folder ? conduct_.make_folder() : Result<void>();
  }

  Result<void> write(const TuningRecord& record) {
    if (records_.empty()) return {};
    TMA_JIT_CHECK(make_folder());
    return merge_tuning_file(records_, std::span(&record, 1));
  }

  tuning::ContestMemory memory_of(tuning::TrialLog& log, const Request& request) {
    const auto digest = [this, &request](const Candidate& candidate) {
      return conduct_.digest ? conduct_.digest(request, candidate.file) : std::string();
    };
    return {[&log, digest](const Candidate& candidate) { return log.find(candidate, digest(candidate)); },
            [&log, digest](const Candidate& candidate) { log.begin(candidate, digest(candidate)); },
            [&log, digest](const Candidate& candidate, const tuning::KnownTrial& known) {
              log.keep(candidate, digest(candidate), known);
            }};
  }

  TuningRecord record_of(TuningRecord problem, const Request& request, const Candidate& winner,
                         const tuning::Verdict& verdict) const {
    problem.file = winner.file;
    problem.digest = conduct_.digest ? conduct_.digest(request, winner.file) : std::string();
    problem.params = {winner.params.begin(), winner.params.end()};
    problem.us = verdict.us;
    problem.preset_us = verdict.preset_us;
    problem.driver = conduct_.driver ? conduct_.driver() : std::string();
    problem.compiler = *compiler_;
    return problem;
  }

  bool tell(std::size_t trial, std::size_t trials) {
    if (!options_.progress) return true;
    ended_ =
        ended_ || !options_.progress({at_, requests_.size(), trial, trials, seconds_since(start_), options_.budget_s});
    return !ended_;
  }

  // Returns the seconds of the budget for the current request.
  double share() const {
    return (options_.budget_s - seconds_since(start_)) / static_cast<double>(requests_.size() - at_);
  }

  // Returns the seconds to wait for a process that measures the current request within an equal share.
  double patience() const { return conduct_.patience_s.value_or(std::max(share(), 0.0) + kOverrun); }

  Engine& engine_;
  const TuneOptions& options_;
  tuning::Conduct conduct_;
  std::optional<SideStream> side_;  // made for the first contest, unless the conduct has one
  const std::filesystem::path records_;
  tuning::RecordFile file_;  // `records_`
  const DeviceInfo device_;
  std::optional<std::string> compiler_;  // its version, known once something is measured
  const Clock::time_point start_ = Clock::now();
  const std::span<const Request> requests_;
  Clock::time_point request_begin_, until_;         // of the current request
  std::unique_ptr<tuning::CompileAhead> compiles_;  // of the last contest; some may go on, and use the engine
  std::unique_ptr<tuning::BuildAhead> next_;        // for the request with the number `next_at_`
  std::size_t next_at_ = 0;
  std::size_t at_ = 0;
  bool ended_ = false, begun_ = false;
  Result<void> fault_{};  // of what `Conduct::begin` began
  std::vector<TuningRecord> found_;
  std::vector<tuning::SharedLine> known_;
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
  Tuning tuning(engine, requests, options, conduct, std::move(device));
  std::vector<TuneResult> results;
  results.reserve(requests.size());
  for (const Request& request : requests) {
    if (tuning.ended()) break;
    tuning.tune(request, results.emplace_back());
  }
  TMA_JIT_CHECK(tuning.fault());
  if (conduct.follow) conduct.follow(std::move(tuning.known()));
  engine.follow(std::move(tuning.found()));
  return results;
}

}  // namespace tuning

}  // namespace tma_jit

#include "tuning/contest.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"
#include "core/failure.h"
#include "tuning/agreement.h"
#include "tuning/pinned.h"

namespace tma_jit::tuning {
namespace {

constexpr int kFirstRounds = 5, kRounds = 11, kLastRounds = 35;
constexpr std::size_t kFinalists = 4;     // beside the preset
constexpr double kErrors = 3;             // number of standard errors that a gain must exceed
constexpr std::size_t kMostRounds = 350;  // of the final, however large the errors stay

// Returns the standard error of the mean, relative to the mean.
double standard_error(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count) / mean;
}

// Returns the standard error of the median, relative to it, estimated from the median of the deviations: rounds that
// other work has made longer, as long as they are less than half, do not enlarge it. For normal values the deviations'
// median is 0.6745 of the standard deviation, and the median's error is sqrt(pi / 2) of the mean's.
double error_of_median(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  const double deviation = median_of(std::move(deviations)) / 0.6745;
  return 1.2533 * deviation / std::sqrt(static_cast<double>(values.size())) / middle;
}

bool over(const ContestSettings& settings) {
  return Clock::now() >= settings.until;
}

// Uses the device for as long as `use` takes, if the conduct lets it.
template <class Use> Result<void> step(const Conduct& conduct, Use&& use) {
  if (conduct.may_go_on && !conduct.may_go_on()) {
    return failure(ErrorCode::cancelled, "the tuning was ended, or its budget is used up");
  }
  Result<void> done = use();
  if (conduct.paused) conduct.paused();
  return done;
}

}  // namespace

Result<Contest> Contest::prepare(Engine& engine, const Request& request, std::vector<Candidate> candidates,
                                 Conduct conduct) {
  Contest contest(engine, request, Plan(), std::move(conduct));
  for (Candidate& candidate : candidates) {
    TuneTrial trial;
    trial.candidate = std::move(candidate);
    trial.outcome = TuneTrial::Outcome::out_of_time;
    contest.trials_.push_back(std::move(trial));
  }
  contest.ratios_.resize(contest.trials_.size());
  TMA_JIT_ASSIGN(contest.plan_, engine.plan(contest.request_for(contest.trials_.front().candidate)));
  if (const std::uint64_t bytes = contest_bytes(contest.plan_); bytes > contest.conduct_.memory_bytes) {
    return failure(ErrorCode::unsupported, "{}: tuning needs {} bytes of device memory, and may take {}",
                   request.kernel, bytes, contest.conduct_.memory_bytes);
  }
  TMA_JIT_CHECK(step(contest.conduct_, [&] { return contest.fill_tensors(); }));
  return contest;
}

// Makes the tensors and the request for them.
Result<void> Contest::fill_tensors() {
  TMA_JIT_ASSIGN(tensors_, make_tensors(*engine_, plan_, conduct_.side));
  request_.tensors.clear();
  for (const MadeTensor& made : tensors_) {
    request_.tensors.push_back({made.name, made.tensor});
    if (!made.output) continue;
    TMA_JIT_ASSIGN(MadeTensor expected, made_like(*engine_, made));
    expected_.push_back(std::move(expected));
  }
  request_.workspaces.clear();
  return {};
}

Request Contest::request_for(const Candidate& candidate) const {
  return pinned(request_, candidate);
}

void Contest::rule_out(std::size_t trial, TuneTrial::Outcome outcome, std::string reason) {
  trials_[trial].outcome = outcome;
  trials_[trial].reason = std::move(reason);
}

// Compares a configuration's outputs with the preset's, which become the reference.
Result<void> Contest::check(Runner& runner) {
  return step(conduct_, [&] { return compare(runner); });
}

Result<void> Contest::compare(Runner& runner) {
  const SideStream* side = conduct_.side;
  for (MadeTensor& made : tensors_) {
    if (made.output) TMA_JIT_CHECK(poison(made, side));
  }
  TMA_JIT_CHECK(runner.launch->launch(side != nullptr ? side->handle() : nullptr));
  TMA_JIT_CHECK(side != nullptr ? side->synchronize() : synchronize(*engine_));
  auto expected = expected_.begin();
  for (MadeTensor& made : tensors_) {
    if (!made.output) continue;
    if (runner.trial == 0) {
      std::swap(made.buffer, expected->buffer);
      std::swap(made.tensor.address, expected->tensor.address);
      TMA_JIT_CHECK(runner.launch->rebind(made.name, made.tensor.address));
    } else {
      TMA_JIT_ASSIGN(std::string difference, disagreement(*engine_, *expected, made, side));
      if (!difference.empty()) {
        rule_out(runner.trial, TuneTrial::Outcome::disagrees, std::move(difference));
        return {};
      }
    }
    ++expected;
  }
  trials_[runner.trial].outcome = TuneTrial::Outcome::measured;
  return {};
}

// Launches the preset and others in turns, no more rounds at once than the conduct says.
Result<void> Contest::race(Runner& preset, std::span<Runner> others, int rounds, bool flush) {
  for (int left = rounds; left > 0; left -= conduct_.rounds_at_once) {
    const int now = std::min(left, conduct_.rounds_at_once);
    TMA_JIT_CHECK(step(conduct_, [&] { return race_once(preset, others, now, flush); }));
  }
  return {};
}

// Adds what each took, relative to the preset.
Result<void> Contest::race_once(Runner& preset, std::span<Runner> others, int rounds, bool flush) {
  std::vector<Launch*> launches = {preset.launch.get()};
  for (const Runner& runner : others) launches.push_back(runner.launch.get());
  const MeasureOptions options{.warmups = 1, .repeats = rounds, .flush_l2 = flush, .side = conduct_.side};
  const Clock::time_point start = Clock::now();
  TMA_JIT_ASSIGN(const RoundTimes times, measure_in_turns(*engine_, launches, options));
  if (others.empty()) launch_time_ = (Clock::now() - start) / (1 + rounds);
  preset_times_.insert(preset_times_.end(), times[0].begin(), times[0].end());
  trials_[preset.trial].us = median_of(preset_times_);
  trials_[preset.trial].launches += rounds;
  for (std::size_t i = 0; i < others.size(); ++i) {
    Runner& runner = others[i];
    for (std::size_t round = 0; round < times[0].size(); ++round) {
      runner.ratios.push_back(times[i + 1][round] / times[0][round]);
    }
    trials_[runner.trial].launches += rounds;
    ratios_[runner.trial] = median_of(runner.ratios);
  }
  state_times();
  return {};
}

// Times of different moments cannot be compared, because the clocks change: every trial's is its ratio to the preset
// times the preset's latest.
void Contest::state_times() {
  for (std::size_t trial = 1; trial < trials_.size(); ++trial) trials_[trial].us = ratios_[trial] * trials_[0].us;
}

void Contest::admit_one(std::vector<Runner>& runners, std::size_t trial, Result<Launch> launch,
                        const ContestSettings& settings) {
  if (!launch) return rule_out(trial, TuneTrial::Outcome::failed, launch.error().message);
  const Resources& resources = launch->artifact().resources;
  const auto spilled = resources.spill_store_bytes + resources.spill_load_bytes;
  if (spilled > 0) {
    return rule_out(trial, TuneTrial::Outcome::spills, fmt::format("spills {} bytes of registers", spilled));
  }
  Runner runner{trial, std::make_unique<Launch>(std::move(*launch)), {}};
  for (const MadeTensor& made : tensors_) {
    const auto bound = runner.launch->rebind(made.name, made.tensor.address);
    if (!bound) return rule_out(trial, TuneTrial::Outcome::failed, bound.error().message);
  }
  auto done = check(runner);
  if (done && trials_[trial].outcome == TuneTrial::Outcome::disagrees) return;
  if (done) done = race(runners.front(), std::span(&runner, 1), kFirstRounds, settings.flush_l2);
  if (!done) return rule_out(trial, TuneTrial::Outcome::failed, done.error().message);
  runners.push_back(std::move(runner));
}

// Compiles and checks all configurations and measures each that agrees for a few rounds. The preset comes first,
// whatever time is left.
Result<std::vector<Contest::Runner>> Contest::admit(const ContestSettings& settings) {
  const Clock::time_point start = Clock::now();
  std::vector<Request> requests;
  for (const TuneTrial& trial : trials_) requests.push_back(request_for(trial.candidate));
  ahead_ = std::make_unique<CompileAhead>(*engine_, std::move(requests), conduct_.compile_threads);
  std::vector<Runner> runners(1);
  TMA_JIT_ASSIGN(Launch preset, ahead_->of(0));
  runners.front().launch = std::make_unique<Launch>(std::move(preset));
  TMA_JIT_CHECK(check(runners.front()));
  TMA_JIT_CHECK(race(runners.front(), {}, kFirstRounds, settings.flush_l2));
  const Clock::time_point end = admission_end(settings, start);
  for (std::size_t come = 1; Clock::now() < end; ++come) {
    if (!settings.go_on(come, trials_.size())) break;
    auto done = ahead_->next(end);
    if (!done) break;
    admit_one(runners, done->first, std::move(done->second), settings);
  }
  ahead_->stop();
  return runners;
}

// Returns when the measurements of the halves and of the final must begin to end in time; they get at most half of it.
Clock::time_point Contest::admission_end(const ContestSettings& settings, Clock::time_point start) const {
  std::size_t launches = (1 + kFinalists) * (1 + kLastRounds);
  for (std::size_t left = trials_.size() - 1; left > kFinalists;) {
    left = std::max(kFinalists, left / 2);
    launches += (1 + left) * (1 + kRounds);
  }
  const Clock::duration needed = launch_time_ * static_cast<std::int64_t>(launches);
  return settings.until - std::min((settings.until - start) / 2, needed);
}

// Keeps the better half of the configurations until as many are left as the final takes, and the preset, which stays
// first. The best comes second.
Result<void> Contest::halve(std::vector<Runner>& runners, const ContestSettings& settings) {
  const auto by_time = [this](const Runner& a, const Runner& b) { return ratios_[a.trial] < ratios_[b.trial]; };
  std::sort(runners.begin() + 1, runners.end(), by_time);
  while (runners.size() - 1 > kFinalists) {
    runners.resize(1 + std::max(kFinalists, runners.size() / 2));
    if (over(settings)) continue;
    TMA_JIT_CHECK(race(runners.front(), std::span(runners).subspan(1), kRounds, settings.flush_l2));
    std::sort(runners.begin() + 1, runners.end(), by_time);
  }
  return {};
}

double Contest::error_of(const Runner& runner) const {
  return conduct_.relative_error > 0 ? error_of_median(runner.ratios) : standard_error(runner.ratios);
}

// Returns whether every ratio is known as well as the conduct demands.
bool Contest::settled(std::span<const Runner> others) const {
  if (conduct_.relative_error <= 0) return true;
  return std::ranges::all_of(others,
                             [this](const Runner& runner) { return error_of(runner) <= conduct_.relative_error; });
}

Result<Verdict> Contest::decide(std::vector<Runner>& runners, const ContestSettings& settings, double least_gain) {
  Runner& preset = runners.front();
  const std::span<Runner> others = std::span(runners).subspan(1);
  for (Runner& runner : others) runner.ratios.clear();
  preset_times_.clear();
  do {
    TMA_JIT_CHECK(race(preset, others, kLastRounds, settings.flush_l2));
  } while (!settled(others) && preset_times_.size() < kMostRounds && !over(settings));
  const double preset_us = trials_[preset.trial].us;
  Verdict verdict{preset.trial, preset_us, preset_us};
  for (const Runner& runner : others) {
    const double ratio = median_of(runner.ratios), gain = 1 / ratio - 1;
    if (gain < least_gain || gain <= kErrors * error_of(runner)) continue;
    if (ratio * preset_us < verdict.us) verdict = {runner.trial, ratio * preset_us, preset_us};
  }
  if (verdict.winner == 0 && !settled(others)) {
    return failure(ErrorCode::cancelled, "{}: after {} rounds the times still vary too much to tell what is fastest",
                   request_.kernel, preset_times_.size());
  }
  return verdict;
}

Result<Verdict> Contest::run(const ContestSettings& settings, double least_gain) {
  TMA_JIT_ASSIGN(std::vector<Runner> runners, admit(settings));
  TMA_JIT_CHECK(halve(runners, settings));
  return decide(runners, settings, least_gain);
}

}  // namespace tma_jit::tuning

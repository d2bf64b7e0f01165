#include "tuning/contest.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"
#include "core/failure.h"
#include "tuning/agreement.h"
#include "tuning/compile_ahead.h"
#include "tuning/pinned.h"

namespace tma_jit::tuning {
namespace {

constexpr int kFirstLaunches = 3, kLaunches = 5;
constexpr std::size_t kLastTwo = 2;
constexpr int kLastRounds = 7;
constexpr double kErrors = 3;  // number of standard errors that a gain must exceed

// Returns the standard error of the mean, relative to the mean.
double standard_error(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count) / mean;
}

bool over(const ContestSettings& settings) {
  return Clock::now() >= settings.until;
}

}  // namespace

Result<Contest> Contest::prepare(Engine& engine, const Request& request, std::vector<Candidate> candidates) {
  Contest contest(engine, request, Plan());
  for (Candidate& candidate : candidates) {
    TuneTrial trial;
    trial.candidate = std::move(candidate);
    trial.outcome = TuneTrial::Outcome::out_of_time;
    contest.trials_.push_back(std::move(trial));
  }
  TMA_JIT_ASSIGN(contest.plan_, engine.plan(contest.request_for(contest.trials_.front().candidate)));
  TMA_JIT_ASSIGN(contest.tensors_, make_tensors(engine, contest.plan_));
  contest.request_.tensors.clear();
  for (const MadeTensor& made : contest.tensors_) {
    contest.request_.tensors.push_back({made.name, made.tensor});
    if (!made.output) continue;
    TMA_JIT_ASSIGN(MadeTensor expected, made_like(engine, made));
    contest.expected_.push_back(std::move(expected));
  }
  contest.request_.workspaces.clear();
  return contest;
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
  for (MadeTensor& made : tensors_) {
    if (made.output) TMA_JIT_CHECK(poison(made));
  }
  TMA_JIT_CHECK(runner.launch->launch());
  TMA_JIT_CHECK(synchronize(*engine_));
  auto expected = expected_.begin();
  for (MadeTensor& made : tensors_) {
    if (!made.output) continue;
    if (runner.trial == 0) {
      std::swap(made.buffer, expected->buffer);
      std::swap(made.tensor.address, expected->tensor.address);
      TMA_JIT_CHECK(runner.launch->rebind(made.name, made.tensor.address));
    } else {
      TMA_JIT_ASSIGN(std::string difference, disagreement(*engine_, *expected, made));
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

Result<void> Contest::measure(Runner& runner, int launches, bool flush) {
  const MeasureOptions options{.warmups = 1, .repeats = launches, .flush_l2 = flush, .host_launches = 0};
  TMA_JIT_ASSIGN(const Measurement time, tma_jit::measure(*engine_, *runner.launch, options));
  runner.times.push_back(time.median_us);
  TuneTrial& trial = trials_[runner.trial];
  trial.us = median_of(runner.times);
  trial.launches += launches;
  return {};
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
  if (done) done = measure(runner, kFirstLaunches, settings.flush_l2);
  if (!done) return rule_out(trial, TuneTrial::Outcome::failed, done.error().message);
  runners.push_back(std::move(runner));
}

// Compiles and checks all configurations and measures each that agrees a few times. The preset comes first, whatever
// time is left.
Result<std::vector<Contest::Runner>> Contest::admit(const ContestSettings& settings) {
  std::vector<Runner> runners(1);
  TMA_JIT_ASSIGN(Launch preset, engine_->prepare(request_for(trials_.front().candidate)));
  runners.front().launch = std::make_unique<Launch>(std::move(preset));
  TMA_JIT_CHECK(check(runners.front()));
  TMA_JIT_CHECK(measure(runners.front(), kFirstLaunches, settings.flush_l2));

  std::vector<Request> requests;
  for (std::size_t i = 1; i < trials_.size(); ++i) requests.push_back(request_for(trials_[i].candidate));
  CompileAhead ahead(*engine_, std::move(requests));
  for (std::size_t come = 1; !over(settings); ++come) {
    if (!settings.go_on(come, trials_.size())) break;
    auto done = ahead.next();
    if (!done) break;
    admit_one(runners, done->first + 1, std::move(done->second), settings);
  }
  return runners;
}

// Keeps the better half of the configurations, and the preset, which stays first.
Result<void> Contest::halve(std::vector<Runner>& runners, const ContestSettings& settings) {
  while (runners.size() > kLastTwo) {
    const auto others = runners.begin() + 1;
    std::sort(others, runners.end(),
              [this](const Runner& a, const Runner& b) { return trials_[a.trial].us < trials_[b.trial].us; });
    runners.resize(1 + (runners.size() - 1 + 1) / 2);
    if (over(settings) || runners.size() <= kLastTwo) continue;
    for (auto runner = runners.begin() + 1; runner != runners.end(); ++runner) {
      TMA_JIT_CHECK(measure(*runner, kLaunches, settings.flush_l2));
    }
  }
  return {};
}

Result<Verdict> Contest::decide(Runner& preset, Runner* best, const ContestSettings& settings, double least_gain) {
  preset.times.clear();
  if (best != nullptr) best->times.clear();
  for (int round = 0; round < kLastRounds; ++round) {
    TMA_JIT_CHECK(measure(preset, kLaunches, settings.flush_l2));
    if (best != nullptr) TMA_JIT_CHECK(measure(*best, kLaunches, settings.flush_l2));
  }
  const double preset_us = median_of(preset.times);
  if (best == nullptr) return Verdict{0, preset_us, preset_us};
  const double us = median_of(best->times), gain = preset_us / us - 1;
  const double error = std::hypot(standard_error(preset.times), standard_error(best->times));
  if (gain >= least_gain && gain > kErrors * error) return Verdict{best->trial, us, preset_us};
  return Verdict{0, preset_us, preset_us};
}

Result<Verdict> Contest::run(const ContestSettings& settings, double least_gain) {
  TMA_JIT_ASSIGN(std::vector<Runner> runners, admit(settings));
  TMA_JIT_CHECK(halve(runners, settings));
  return decide(runners.front(), runners.size() > 1 ? &runners[1] : nullptr, settings, least_gain);
}

}  // namespace tma_jit::tuning

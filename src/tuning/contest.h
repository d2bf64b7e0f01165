// The configurations of one problem, measured against each other.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <tma_jit/tuning.h>

#include "tuning/compile_ahead.h"
#include "tuning/conduct.h"
#include "tuning/elimination.h"
#include "tuning/tensors.h"
#include "tuning/trial_log.h"

namespace tma_jit::tuning {

using Clock = std::chrono::steady_clock;

// What earlier tunings of the problem found out; every function may be empty.
struct ContestMemory {
  std::function<std::optional<KnownTrial>(const Candidate&)> find{};
  std::function<void(const Candidate&)> begin{};  // before its first launch
  std::function<void(const Candidate&, const KnownTrial&)> keep{};
};

struct ContestSettings {
  Clock::time_point begin;  // of the whole tuning of the problem, from which trials tell their times
  Clock::time_point until;
  bool flush_l2 = true;
  std::function<bool(std::size_t trial, std::size_t trials)> go_on;  // returns false to stop the contest at its current
                                                                     // state
  ContestMemory memory{};
  std::function<void()> admitted{};  // called when nothing more is compiled for this contest; may be empty
};

// The winner and both times, measured side by side.
struct Verdict {
  std::size_t winner = 0;  // index of the trial; 0 is the preset
  double us = 0, preset_us = 0;
  double drift = 0;        // by how much the preset's time grew from the contest's beginning to its end, as a fraction
  std::size_t places = 0;  // in memory, in which the final was run
};

// Finds the fastest configuration of one problem without measuring all equally long. Candidates are compiled in other
// threads while this one measures; what is not compiled in time to be measured before `until` is left out. Each that
// compiles runs once, its outputs are compared with the preset's, and only then is it timed, always in turns with the
// preset and relative to it, because the clocks change while a contest lasts, and in several places in memory, on which
// times depend too: three rounds in each of two places for all, after which an Elimination decides. What a memory has
// ruled out is not compiled, and what it has measured is not measured for the first rounds.
class Contest {
 public:
  // The first of `candidates` is the preset. The conduct has a side stream, which says whether L2 is overwritten. Uses
  // no device yet.
  [[nodiscard]] static Result<Contest> prepare(Engine& engine, const Request& request,
                                               std::vector<Candidate> candidates, Conduct conduct);

  [[nodiscard]] Result<Verdict> run(const ContestSettings& settings, double least_gain);
  const std::vector<TuneTrial>& trials() const { return trials_; }
  // Returns in words how a verdict was reached.
  std::string method(const ContestSettings& settings, const Verdict& verdict) const;
  // Returns the preset's plan.
  const Plan& plan() const { return plan_; }
  // Returns the compiles that may still go on after `run`, so that the next contest need not wait for their end.
  std::unique_ptr<CompileAhead> release_compiles() { return std::move(ahead_); }

 private:
  struct Runner {
    Runner(std::size_t number, Launch prepared)
        : trial(number), launch(std::make_unique<Launch>(std::move(prepared))) {}

    std::size_t trial;
    std::unique_ptr<Launch> launch;
    std::vector<double> ratios;  // its time over the preset's, the median of the rounds of each race
  };

  Contest(Engine& engine, Request request, Plan plan, Conduct conduct)
      : engine_(&engine), request_(std::move(request)), plan_(std::move(plan)), conduct_(std::move(conduct)) {}

  Request request_for(const Candidate& candidate) const;
  [[nodiscard]] Result<void> bind(Runner& runner);
  void judged(std::size_t trial, const ContestSettings& settings);
  [[nodiscard]] Result<void> check(Runner& runner);
  [[nodiscard]] Result<void> begin(const ContestSettings& settings);
  [[nodiscard]] Result<void> compare(Runner& runner);
  [[nodiscard]] Result<void> move(std::span<Launch* const> launches, const Moment& moment);
  [[nodiscard]] Result<std::vector<double>> race(std::span<Runner* const> others, const Moment& moment);
  [[nodiscard]] Result<void> race_first(Runner& runner);
  [[nodiscard]] Result<RoundTimes> measure(std::span<Launch* const> launches);
  std::vector<double> add(const RoundTimes& times, std::span<Runner* const> others);
  void state_times();
  std::size_t thoroughness() const;
  bool spent() const { return conduct_.spent && conduct_.spent(); }
  bool rests() const { return conduct_.rest > Clock::duration::zero(); }
  Clock::time_point admission_end(const ContestSettings& settings, Clock::time_point start) const;
  [[nodiscard]] Result<void> admit(const ContestSettings& settings);
  [[nodiscard]] Result<void> admit_one(std::size_t trial, Result<Launch> launch, const ContestSettings& settings);
  std::vector<std::size_t> worth_compiling(const ContestSettings& settings);
  [[nodiscard]] Result<void> compile(const ContestSettings& settings);
  void come(const CompileAhead::Done& done, const ContestSettings& settings);
  [[nodiscard]] Result<void> compare_and_time(Runner& runner, const ContestSettings& settings);
  bool device_lives() const;
  Track track(const ContestSettings& settings);
  [[nodiscard]] Result<Verdict> decide(const ContestSettings& settings, double least_gain);
  void rule_out(std::size_t trial, TuneTrial::Outcome outcome, std::string reason);
  void keep(std::size_t trial, const ContestSettings& settings) const;
  std::string reproducer(const Candidate& candidate) const;

  Engine* engine_;
  Request request_;
  Plan plan_;
  Conduct conduct_;
  std::vector<MadeTensor> tensors_;
  std::vector<MadeTensor> expected_;              // outputs of the preset
  std::vector<std::unique_ptr<Runner>> runners_;  // the preset first
  std::vector<TuneTrial> trials_;
  std::vector<double> ratios_;  // of each trial to the preset; 0: not measured
  std::vector<double> preset_times_;
  double first_preset_us_ = 0;         // when the contest began
  Clock::duration launch_time_{};      // of a launch of the preset in a race, with what each round does beside it
  std::vector<std::size_t> compiled_;  // the trials whose requests `ahead_` prepares, in its order
  std::unique_ptr<CompileAhead> ahead_;
};

}  // namespace tma_jit::tuning

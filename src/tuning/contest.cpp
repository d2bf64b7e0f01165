#include "tuning/contest.h"

#include <algorithm>
#include <thread>

#include "base/median.h"
#include "base/text.h"
#include "core/failure.h"
#include "tuning/agreement.h"
#include "tuning/pinned.h"

namespace tma_jit::tuning {
namespace {

constexpr int kRounds = 3;                        // in one place
constexpr std::chrono::microseconds kShort{100};  // a launch in a race, with what is done before it
constexpr std::size_t kThorough = 3;              // of shorter ones
constexpr std::size_t kThoroughBeside = 12;       // beside other work

std::string words_of(const Candidate& candidate) {
  std::string words = candidate.file;
  for (const auto& [name, value] : candidate.params) words += fmt::format(" {}={}", name, value);
  return words;
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
  return contest;
}

// Begins to compile before the tensors hold data.
Result<void> Contest::compile(const ContestSettings& settings) {
  TMA_JIT_ASSIGN(tensors_, make_tensors(*engine_, plan_));
  request_.tensors.clear();
  for (const MadeTensor& made : tensors_) request_.tensors.push_back({made.name, made.tensor});
  request_.workspaces.clear();
  compiled_ = worth_compiling(settings);
  std::vector<Request> requests;
  for (const std::size_t trial : compiled_) requests.push_back(request_for(trials_[trial].candidate));
  ahead_ =
      std::make_unique<CompileAhead>(*engine_, std::move(requests), comparisons(tensors_), conduct_.compile_threads);
  return {};
}

Result<void> Contest::begin(const ContestSettings& settings) {
  TMA_JIT_CHECK(compile(settings));
  TMA_JIT_CHECK(fill_inputs(tensors_, plan_, *conduct_.side));
  for (const MadeTensor& made : tensors_) {
    if (!made.output) continue;
    TMA_JIT_ASSIGN(MadeTensor expected, made_like(*engine_, made));
    expected_.push_back(std::move(expected));
  }
  return {};
}

// Notes that a configuration has been prepared.
void Contest::come(const CompileAhead::Done& done, const ContestSettings& settings) {
  trials_[compiled_[done.index]].compiled_s = std::chrono::duration<double>(done.when - settings.begin).count();
}

Request Contest::request_for(const Candidate& candidate) const {
  return pinned(request_, candidate);
}

void Contest::rule_out(std::size_t trial, TuneTrial::Outcome outcome, std::string reason) {
  trials_[trial].outcome = outcome;
  trials_[trial].reason = std::move(reason);
  if (outcome == TuneTrial::Outcome::disagrees) trials_[trial].reproducer = reproducer(trials_[trial].candidate);
}

std::string Contest::reproducer(const Candidate& candidate) const {
  std::string words = "tma-jit run " + plan_.kernel;
  for (const DimValue& dim : plan_.dims) words += fmt::format(" {}={}", dim.name, dim.value);
  for (const auto& [name, type] : candidate.types) words += fmt::format(" {}={}", name, name_of(type));
  for (const auto& [name, value] : candidate.params) words += fmt::format(" {}={}", name, value);
  for (const std::string& operand : request_.operands) words += " --operand " + quoted_for_shell(operand);
  for (const auto& [name, text] : request_.hooks)
    words += " --hook " + quoted_for_shell(fmt::format("{}={}", name, text));
  return words + " --template-file " + candidate.file + " --check";
}

// Compares a configuration's outputs with the preset's, which become the reference.
Result<void> Contest::check(Runner& runner) {
  return step(conduct_, [&] { return compare(runner); });
}

Result<void> Contest::compare(Runner& runner) {
  const SideStream& side = *conduct_.side;
  for (MadeTensor& made : tensors_) {
    if (made.output) TMA_JIT_CHECK(poison(made, side));
  }
  TMA_JIT_CHECK(runner.launch->launch(side.handle()));
  TMA_JIT_CHECK(side.synchronize());
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

// Lets the launches have their tensors where the moment says.
Result<void> Contest::move(std::span<Launch* const> launches, const Moment& moment) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!tensors_[i].movable) continue;
    const std::uint64_t address = address_in(tensors_[i], i, moment.place);
    for (Launch* launch : launches) TMA_JIT_CHECK(launch->rebind(tensors_[i].name, address));
  }
  return {};
}

// Launches the preset and others in turns, for a few rounds. Returns the others' times over the preset's.
Result<std::vector<double>> Contest::race(std::span<Runner* const> others, const Moment& moment) {
  std::vector<Launch*> launches = {runners_.front()->launch.get()};
  for (const Runner* runner : others) launches.push_back(runner->launch.get());
  TMA_JIT_CHECK(move(launches, moment));
  if (moment.rested) std::this_thread::sleep_for(conduct_.rest);
  RoundTimes times;
  TMA_JIT_CHECK(step(conduct_, [&]() -> Result<void> {
    TMA_JIT_ASSIGN(times, measure(launches));
    return {};
  }));
  return add(times, others);
}

// Measures a few rounds, beside other work if that is asked for. The preset alone says how long a launch takes.
Result<RoundTimes> Contest::measure(std::span<Launch* const> launches) {
  constexpr std::chrono::milliseconds kUnknown{1};
  if (conduct_.beside) {
    const Clock::duration one = launch_time_ > Clock::duration::zero() ? launch_time_ : kUnknown;
    const auto all = one * static_cast<std::int64_t>(launches.size() * (1 + kRounds));
    TMA_JIT_CHECK(conduct_.beside(std::chrono::duration<double, std::micro>(all).count()));
  }
  const MeasureOptions options{.warmups = 1, .repeats = kRounds, .replay = conduct_.replay, .side = conduct_.side};
  const Clock::time_point start = Clock::now();
  TMA_JIT_ASSIGN(RoundTimes times, measure_in_turns(*engine_, launches, options));
  if (launches.size() == 1) launch_time_ = (Clock::now() - start) / (1 + kRounds);
  return times;
}

// Notes what each took, and returns it relative to the preset.
std::vector<double> Contest::add(const RoundTimes& times, std::span<Runner* const> others) {
  preset_times_.insert(preset_times_.end(), times[0].begin(), times[0].end());
  TuneTrial& preset = trials_[runners_.front()->trial];
  preset.us = median_of(preset_times_);
  preset.launches += kRounds;
  std::vector<double> medians;
  for (std::size_t i = 0; i < others.size(); ++i) {
    Runner& runner = *others[i];
    std::vector<double> ratios;
    for (std::size_t round = 0; round < times[0].size(); ++round)
      ratios.push_back(times[i + 1][round] / times[0][round]);
    runner.ratios.push_back(medians.emplace_back(median_of(std::move(ratios))));
    trials_[runner.trial].launches += kRounds;
    ratios_[runner.trial] = mean_of(runner.ratios).value;
  }
  state_times();
  return medians;
}

// Times of different moments cannot be compared, because the clocks change: every trial's is its ratio to the preset
// times the preset's latest.
void Contest::state_times() {
  for (std::size_t trial = 1; trial < trials_.size(); ++trial) trials_[trial].us = ratios_[trial] * trials_[0].us;
}

// Lets later tunings know what became of a configuration.
void Contest::keep(std::size_t trial, const ContestSettings& settings) const {
  if (!settings.memory.keep) return;
  const TuneTrial& found = trials_[trial];
  settings.memory.keep(found.candidate, {found.outcome, ratios_[trial], found.reason});
}

bool Contest::device_lives() const {
  return conduct_.side->synchronize().has_value();
}

// Compares a configuration's outputs, and times it if they agree and no earlier tuning has.
Result<void> Contest::compare_and_time(Runner& runner, const ContestSettings& settings) {
  const Candidate& candidate = trials_[runner.trial].candidate;
  const auto known = settings.memory.find ? settings.memory.find(candidate) : std::nullopt;
  if (settings.memory.begin) settings.memory.begin(candidate);
  TMA_JIT_CHECK(check(runner));
  if (trials_[runner.trial].outcome == TuneTrial::Outcome::disagrees) return {};
  if (!known) return race_first(runner);
  ratios_[runner.trial] = known->ratio;
  state_times();
  return {};
}

std::size_t Contest::thoroughness() const {
  if (launch_time_ <= Clock::duration::zero() || launch_time_ >= kShort) return 1;
  return conduct_.disturbed ? kThoroughBeside : kThorough;
}

// The preset runs alone.
Result<void> Contest::race_first(Runner& runner) {
  std::vector<Runner*> others;
  if (runner.trial != 0) others.push_back(&runner);
  for (std::size_t place = 0; place < Elimination::kPlacesBefore * thoroughness(); ++place)
    TMA_JIT_CHECK(race(others, {.place = place}));
  return {};
}

// Fails only if the device does.
Result<void> Contest::admit_one(std::size_t trial, Result<Launch> launch, const ContestSettings& settings) {
  if (!launch) {
    rule_out(trial, TuneTrial::Outcome::failed, launch.error().message);
    if (launch.error().code == ErrorCode::compile) keep(trial, settings);
    return {};
  }
  const Resources& resources = launch->artifact().resources;
  const auto spilled = resources.spill_store_bytes + resources.spill_load_bytes;
  if (spilled > 0) {
    rule_out(trial, TuneTrial::Outcome::spills, fmt::format("spills {} bytes of registers", spilled));
    keep(trial, settings);
    return {};
  }
  auto runner = std::make_unique<Runner>(trial, std::move(*launch));
  Result<void> done = bind(*runner);
  if (done) done = compare_and_time(*runner, settings);
  if (!done) {
    rule_out(trial, TuneTrial::Outcome::failed, done.error().message);
    if (done.error().code != ErrorCode::driver || device_lives()) return {};
    return failure(ErrorCode::driver, "{}: the device failed while {} ran: {}", request_.kernel,
                   words_of(trials_[trial].candidate), done.error().message);
  }
  keep(trial, settings);
  if (trials_[trial].outcome == TuneTrial::Outcome::measured) runners_.push_back(std::move(runner));
  return {};
}

// Rules out what earlier tunings have, and returns the others.
std::vector<std::size_t> Contest::worth_compiling(const ContestSettings& settings) {
  std::vector<std::size_t> others = {0};
  for (std::size_t trial = 1; trial < trials_.size(); ++trial) {
    auto known = settings.memory.find ? settings.memory.find(trials_[trial].candidate) : std::nullopt;
    if (known && known->outcome != TuneTrial::Outcome::measured) {
      rule_out(trial, known->outcome, known->reason + ", as an earlier tuning found");
    } else {
      others.push_back(trial);
    }
  }
  return others;
}

// Checks all configurations as they are compiled and measures each that agrees for a few rounds. The preset comes
// first, whatever time is left.
Result<void> Contest::admit(const ContestSettings& settings) {
  const Clock::time_point start = Clock::now();
  CompileAhead::Done preset = ahead_->of(0);
  come(preset, settings);
  TMA_JIT_ASSIGN(Launch launch, std::move(preset.launch));
  runners_.push_back(std::make_unique<Runner>(0, std::move(launch)));
  TMA_JIT_CHECK(check(*runners_.front()));
  TMA_JIT_CHECK(race_first(*runners_.front()));
  judged(0, settings);
  first_preset_us_ = trials_.front().us;
  const Clock::time_point end = admission_end(settings, start);
  for (std::size_t number = 1; Clock::now() < end && !spent(); ++number) {
    if (!settings.go_on(number, compiled_.size())) break;
    auto done = ahead_->next(end);
    if (!done) break;
    come(*done, settings);
    const std::size_t trial = compiled_[done->index];
    TMA_JIT_CHECK(admit_one(trial, std::move(done->launch), settings));
    judged(trial, settings);
  }
  ahead_->stop();
  if (settings.admitted) settings.admitted();
  return {};
}

void Contest::judged(std::size_t trial, const ContestSettings& settings) {
  trials_[trial].judged_s = std::chrono::duration<double>(Clock::now() - settings.begin).count();
}

Result<void> Contest::bind(Runner& runner) {
  for (const MadeTensor& made : tensors_) TMA_JIT_CHECK(runner.launch->rebind(made.name, made.tensor.address));
  return {};
}

// Returns when the measurements of the halves and of the final must begin to end in time; they get at most half of it.
Clock::time_point Contest::admission_end(const ContestSettings& settings, Clock::time_point start) const {
  const auto launches = Elimination::least_launches(trials_.size() - 1, rests(), thoroughness());
  const auto rests = static_cast<std::int64_t>(Elimination::kFinalPlaces);
  const Clock::duration needed =
      launch_time_ * static_cast<std::int64_t>(launches * (1 + kRounds)) + conduct_.rest * rests;
  return settings.until - std::min((settings.until - start) / 2, needed);
}

// Returns how races are run for an elimination, which knows configurations by their trials.
Track Contest::track(const ContestSettings& settings) {
  return {.race = [this](std::span<const std::size_t> trials, const Moment& moment) -> Result<std::vector<double>> {
            std::vector<Runner*> others;
            for (const std::size_t trial : trials) {
              const auto found = std::ranges::find(runners_, trial, [](const auto& runner) { return runner->trial; });
              others.push_back(found->get());
            }
            return race(others, moment);
          },
          .over = [this, &settings] { return Clock::now() >= settings.until || spent(); },
          .rests = rests()};
}

Result<Verdict> Contest::decide(const ContestSettings& settings, double least_gain) {
  preset_times_.clear();
  std::vector<Standing> entrants;
  for (const auto& runner : std::span(runners_).subspan(1)) entrants.push_back({runner->trial, ratios_[runner->trial]});
  const Track races = track(settings);
  Elimination elimination(
      races, {.least_gain = least_gain, .most_places = conduct_.most_places, .thoroughness = thoroughness()});
  TMA_JIT_ASSIGN(const Decision decision, elimination.run(std::move(entrants)));
  for (const Standing& standing : decision.finalists) ratios_[standing.entrant] = standing.ratio;
  state_times();
  if (conduct_.must_be_sure && !decision.changed && !decision.settled) {
    return failure(ErrorCode::cancelled, "{}: after {} rounds the times still vary too much to tell what is fastest",
                   request_.kernel, preset_times_.size());
  }
  const double preset_us = trials_.front().us;
  Verdict verdict{0, preset_us, preset_us, preset_us / first_preset_us_ - 1, decision.places};
  if (decision.changed) {
    verdict.winner = decision.finalists.front().entrant;
    verdict.us = decision.finalists.front().ratio * preset_us;
  }
  return verdict;
}

std::string Contest::method(const ContestSettings& settings, const Verdict& verdict) const {
  return fmt::format(
      "device events around each {}; {}{}; in turns with the planned configuration, by the ratios to it in "
      "rounds of {}, with the tensors in {} places in memory, {} for each better half, {} for the last {}{}; "
      "random data",
      conduct_.replay ? "replay of a graph of one launch" : "launch of a stream",
      conduct_.beside ? "beside other work; " : "",
      settings.flush_l2 ? "L2 overwritten before each" : "L2 as the launch before left it", kRounds,
      Elimination::kPlacesBefore * thoroughness(), Elimination::kHalfPlaces * thoroughness(), verdict.places,
      Elimination::kFinalists, rests() ? ", half of them after a pause" : "");
}

Result<Verdict> Contest::run(const ContestSettings& settings, double least_gain) {
  TMA_JIT_CHECK(step(conduct_, [&] { return begin(settings); }));
  TMA_JIT_CHECK(admit(settings));
  return decide(settings, least_gain);
}

}  // namespace tma_jit::tuning

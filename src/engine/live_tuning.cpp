#include "engine/live_tuning.h"

#include <chrono>
#include <exception>

#include "engine/state.h"
#include "tuning/conditions.h"
#include "tuning/pinned.h"
#include "tuning/problem_key.h"
#include "tuning/tuner.h"

namespace tma_jit::engine {
namespace {

constexpr double kUnlimitedSeconds = 1e9;  // the pace ends a tuning in the background
constexpr std::size_t kMostPlaces = 1200;  // of a final beside the application's work, which makes times vary
constexpr double kOfBudget = 0.125;        // largest part of the budget in the background that a problem takes
constexpr double kLeastGain = 0.005;       // in the background: other work makes both times longer, and a gain smaller

// An engine over a state that its owner keeps; its end ends nothing.
class EngineView {
 public:
  explicit EngineView(Engine::State& state)
      : engine_(EngineInternals::engine_of(std::shared_ptr<Engine::State>(std::shared_ptr<Engine::State>(), &state))) {}
  ~EngineView() { EngineInternals::release(engine_); }
  EngineView(const EngineView&) = delete;
  EngineView& operator=(const EngineView&) = delete;
  Engine& operator*() { return engine_; }

 private:
  Engine engine_;
};

}  // namespace

LiveTuning::LiveTuning(Engine::State& state)
    : state_(state),
      policy_(state.options.tuning.policy.value_or(TuningPolicy::records)),
      start_left_s_(state.options.tuning.budget_s),
      pace_({.budget_s = state.options.tuning.budget_s,
             .share = state.options.tuning.device_share,
             .may_measure = state.options.tuning.may_measure}),
      background_({.tune = [this](const Request& request) { return tune_in_background(request); },
                   .stop =
                       [this] {
                         ended_ = true;
                         pace_.stop();
                       }}) {}

TuningRecord LiveTuning::problem_of(const Request& request, const Plan& plan, const DeviceInfo& device) const {
  return tuning::problem_of(plan, device, tuning::conditions_of(request, tuning::conditions_of(state_.options)));
}

// Returns whether tuning the request would give a record that its plans follow, and there is none yet.
bool LiveTuning::may_measure(const Request& request, const Plan& plan) {
  if (tuning::tuning_in_this_thread() || !tuning::is_open(request) || !request.workspaces.empty()) return false;
  if (state_.misses.sealed() || request.params.size() == plan.config.size()) return false;
  const auto facts = state_.facts_for(request);
  return facts && (plan.record.empty() || !state_.records.know(problem_of(request, plan, *facts), *facts));
}

// Counts a problem whose tuning ends without a choice.
LiveTuning::Outcome LiveTuning::give_up(const Request& request, std::string_view why) {
  if (ended_) return Outcome::failed;
  ++state_.counters.tunings_undecided;
  state_.log->info("{} is not tuned, and its planned configuration serves: {}", request.kernel, why);
  return Outcome::failed;
}

void LiveTuning::report(const Request& request, const Error& error) {
  ++state_.counters.tuning_failures;
  std::call_once(reported_, [&] {
    state_.log->warn("{} is not tuned, and its planned configuration serves; further errors are counted only: {}",
                     request.kernel, error.text());
  });
}

LiveTuning::Outcome LiveTuning::tune(const Request& request, TuneOptions options, const tuning::Conduct& conduct) {
  EngineView engine(state_);
  options.flush_l2 = state_.device.takes() == Artifact::Form::cubin;  // the emulator, which takes PTX, has no L2
  // In the relaxed capture mode throughout, whatever other threads capture.
  const auto results = [&]() -> Result<std::vector<TuneResult>> {
    TMA_JIT_ASSIGN(const driver::SharedContext context, state_.device.context());
    TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(*context));
    TMA_JIT_ASSIGN(const SideStream side, SideStream::create(*engine, options.flush_l2));
    tuning::Conduct beside = conduct;
    beside.side = &side;
    beside.memory_bytes = state_.options.tuning.memory_bytes;
    return tuning::tune(*engine, std::span(&request, 1), options, beside);
  }();
  const Error* error = !results ? &results.error() : results->front().error ? &*results->front().error : nullptr;
  if (error == nullptr) {
    if (!results->front().known) ++state_.counters.problems_tuned;
    return Outcome::tuned;
  }
  if (error->code == ErrorCode::cancelled) return give_up(request, error->message);
  report(request, *error);
  const bool device_lost = error->code == ErrorCode::driver && error->reason != ErrorReason::out_of_memory;
  return device_lost ? Outcome::gave_up : Outcome::failed;
}

// An exception means that the host is out of memory.
LiveTuning::Outcome LiveTuning::tune_in_background(const Request& request) {
  tuning::Conduct conduct = conduct_of(state_);
  conduct.must_be_sure = true;
  conduct.disturbed = true;
  conduct.most_places = kMostPlaces;
  conduct.compile_threads = 1;
  conduct.patience_s = pace_.longest_s();
  conduct.stopped = [this] { return ended_.load(); };
  conduct.may_go_on = [this] { return pace_.begin(); };
  conduct.paused = [this] { pace_.end(); };
  conduct.spent = [this, least = pace_.left_s() - kOfBudget * state_.options.tuning.budget_s] {
    return pace_.left_s() < least;
  };
  if (ended_ || pace_.used_up()) return give_up(request, "the budget is used up");
  try {
    return tune(request, {.budget_s = kUnlimitedSeconds, .least_gain = kLeastGain}, conduct);
  } catch (const std::exception& fault) {
    report(request, {ErrorCode::io, fault.what(), {}});
    return Outcome::failed;
  }
}

void LiveTuning::before_preparing(const Request& request) {
  if (policy_ != TuningPolicy::at_start || tuning::tuning_in_this_thread() || !tuning::is_open(request)) return;
  const std::lock_guard lock(start_mutex_);
  if (!(start_left_s_ > 0)) return;
  const auto plan = state_.plan(request);
  if (!plan || !may_measure(request, *plan)) return;
  const auto start = std::chrono::steady_clock::now();
  tuning::Conduct conduct = conduct_of(state_);
  conduct.must_be_sure = true;
  const Outcome outcome = tune(request, {.budget_s = start_left_s_}, conduct);
  start_left_s_ -= std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (outcome == Outcome::gave_up) start_left_s_ = 0;
}

bool LiveTuning::wants(const Request& request, const Plan& plan) {
  return policy_ == TuningPolicy::background && !pace_.used_up() && !ended_ && may_measure(request, plan);
}

void LiveTuning::add(const Request& request, const Plan& plan, std::function<void(bool tuned)> settle) {
  const auto facts = state_.facts_for(request);
  if (!facts) return settle(false);
  background_.add({tuning::problem_key(problem_of(request, plan, *facts)), request, std::move(settle)});
}

void LiveTuning::end() {
  background_.end();
}

}  // namespace tma_jit::engine

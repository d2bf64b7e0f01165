// The policies of an engine that measure: at_start and background.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <tma_jit/options.h>
#include <tma_jit/plan.h>
#include <tma_jit/request.h>
#include <tma_jit/tuning.h>

#include "tuning/background.h"
#include "tuning/conduct.h"
#include "tuning/pace.h"

namespace tma_jit::engine {

// Returns how an engine tunes by its own records.
[[nodiscard]] tuning::Conduct conduct_of(Engine::State& state);

// Thread-safe. An error during tuning is counted and the first one is logged; the planned configuration serves. After
// an error of the device nothing more is tuned.
class LiveTuning {
 public:
  explicit LiveTuning(Engine::State& state);
  ~LiveTuning() { end(); }
  LiveTuning(const LiveTuning&) = delete;
  LiveTuning& operator=(const LiveTuning&) = delete;

  // With the policy at_start, tunes the request if there is no record of it and the budget lasts.
  void before_preparing(const Request& request);

  // Returns whether a Function's shape that is planned like this will be tuned in the background.
  bool wants(const Request& request, const Plan& plan);
  // Tunes the shape in the background; then, or when that ends, calls `settle` in another thread or in this one.
  void add(const Request& request, const Plan& plan, std::function<void(bool tuned)> settle);

  // Counts and reports an error.
  void report(const Request& request, const Error& error);

  // Waits for the step in progress. Nothing is tuned afterwards.
  void end();

 private:
  using Outcome = tuning::Background::Outcome;

  TuningRecord problem_of(const Request& request, const Plan& plan, const DeviceInfo& device) const;
  bool may_measure(const Request& request, const Plan& plan);
  Outcome tune(const Request& request, TuneOptions options, const tuning::Conduct& conduct);
  Outcome tune_in_background(const Request& request);
  Outcome give_up(const Request& request, std::string_view why);

  Engine::State& state_;
  const TuningPolicy policy_;
  std::once_flag reported_;
  std::mutex start_mutex_;  // held while a request is tuned at the start
  double start_left_s_;     // of the budget
  tuning::Pace pace_;
  std::atomic<bool> ended_ = false;
  tuning::Background background_;
};

}  // namespace tma_jit::engine

// The time that measuring in the background may take from the device.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace tma_jit::tuning {

// One thread calls `begin` and `end` around each step of its measurement; any thread may call `stop`.
class Pace {
 public:
  struct Settings {
    double budget_s = 0;                  // sum of all steps
    double share = 1;                     // of the time, in steps; the pause after a step is as long as this demands
    std::function<bool()> may_measure{};  // false: asked again after kAskAgain
  };
  static constexpr std::chrono::milliseconds kAskAgain{20};

  explicit Pace(Settings settings);

  // Waits until the next step may begin. Returns false if the budget is used up, or once `stop` was called.
  [[nodiscard]] bool begin();
  void end();
  void stop();
  // Returns the seconds in which steps use up the whole budget if nothing postpones them.
  double longest_s() const { return settings_.budget_s / settings_.share; }
  // Returns what the steps so far have left of the budget.
  double left_s() const;
  // Returns whether the steps so far have used the budget up.
  bool used_up() const;

 private:
  using Clock = std::chrono::steady_clock;
  // Returns false if `stop` was called before that time.
  bool may_measure() const;
  bool wait_until(Clock::time_point time);

  const Settings settings_;
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  Clock::duration left_, pause_{};  // pause_: after the last step
  Clock::time_point began_, ended_;
};

}  // namespace tma_jit::tuning

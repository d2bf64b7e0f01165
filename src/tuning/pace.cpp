#include "tuning/pace.h"

#include <algorithm>

#include "core/caller_function.h"

namespace tma_jit::tuning {
namespace {

constexpr double kSecondsMax = 1e9;    // about thirty years, which a duration can hold
constexpr double kLeastShare = 0.001;  // a smaller share would make a pause of hours

Pace::Settings checked(Pace::Settings settings) {
  settings.share = settings.share > kLeastShare ? std::min(settings.share, 1.0) : kLeastShare;
  settings.budget_s = settings.budget_s > 0 ? std::min(settings.budget_s, kSecondsMax) : 0;
  return settings;
}

}  // namespace

Pace::Pace(Settings settings)
    : settings_(checked(std::move(settings))),
      left_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings_.budget_s))),
      ended_(Clock::now()) {}

bool Pace::wait_until(Clock::time_point time) {
  std::unique_lock lock(mutex_);
  return !stopped_.wait_until(lock, time, [this] { return stop_; });
}

bool Pace::may_measure() const {
  bool may = !settings_.may_measure;
  if (!may) call_caller([&] { may = settings_.may_measure(); });
  return may;
}

bool Pace::begin() {
  if (used_up() || !wait_until(ended_ + pause_)) return false;
  while (!may_measure()) {
    if (!wait_until(Clock::now() + kAskAgain)) return false;
  }
  began_ = Clock::now();
  return true;
}

void Pace::end() {
  ended_ = Clock::now();
  const Clock::duration step = ended_ - began_;
  pause_ = std::chrono::duration_cast<Clock::duration>(step * (1 / settings_.share - 1));
  const std::lock_guard lock(mutex_);
  left_ -= step;
}

void Pace::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
}

double Pace::left_s() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration<double>(left_).count();
}

bool Pace::used_up() const {
  const std::lock_guard lock(mutex_);
  return left_ <= Clock::duration::zero();
}

}  // namespace tma_jit::tuning

// Decides whether a server that has failed is asked again. After a fault nobody waits for it; from time to time one
// request is made in the background, and when that is answered the server is asked again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace tma_jit::cache {

// Thread-safe.
class Breaker {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Pass : std::uint8_t { wait, background, no };

  static constexpr std::chrono::milliseconds kFirstPause{1'000}, kLongestPause{600'000};
  static constexpr int kAnswersForgiving = 16;  // answers in a row after which earlier faults no longer count

  // Returns how the next request may be made. Whoever gets `background` must report its end.
  Pass pass(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    if (!open_) return Pass::wait;
    if (trial_ || now < until_) return Pass::no;
    trial_ = true;
    return Pass::background;
  }
  void answered() {
    const std::lock_guard lock(mutex_);
    open_ = trial_ = false;
    if (++answers_ >= kAnswersForgiving) faults_ = 0;
  }
  // `waited`: a caller lost its whole time, which may not happen again for the longest pause. Other pauses double.
  void failed(Clock::time_point now, bool waited) {
    const std::lock_guard lock(mutex_);
    if (open_ && !trial_ && !waited) return;  // another thread's request had begun before the fault that is known
    const auto pause = waited ? kLongestPause : std::min(kLongestPause, kFirstPause * (1 << std::min(faults_, 10)));
    until_ = std::max(until_, now + pause);
    ++faults_;
    answers_ = 0;
    open_ = true;
    trial_ = false;
  }
  bool is_open() const {
    const std::lock_guard lock(mutex_);
    return open_;
  }

 private:
  mutable std::mutex mutex_;
  bool open_ = false, trial_ = false;
  int faults_ = 0, answers_ = 0;
  Clock::time_point until_{};
};

}  // namespace tma_jit::cache

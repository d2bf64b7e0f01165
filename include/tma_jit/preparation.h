// Launches prepared in the background, with progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include <tma_jit/error.h>
#include <tma_jit/launch.h>

namespace tma_jit {

struct PrepareOptions {
  int threads = 0;  // that plan, compile and load beside each other; 0: as many as compile beside each other
  // Called after each request by the thread that prepared it, one call at a time: how many are done, of how many. It
  // must not throw, wait for the Preparation, or end it or its engine. Cancelled requests are not reported.
  std::function<void(std::size_t done, std::size_t total)> progress{};
};

// Requests of one Engine::prepare_async on their way. Any thread may call anything but the destructor. Its end, and the
// engine's, cancels what has not begun and waits for what has. It outlives its engine.
class TMA_JIT_API Preparation {
 public:
  Preparation(Preparation&&) noexcept;
  Preparation& operator=(Preparation&&) noexcept;
  ~Preparation();

  std::size_t total() const;
  std::size_t done() const;  // those that have a result, be it an error

  // What has not begun will not, and has ErrorCode::cancelled for a result. Returns at once.
  void cancel();

  // Return when every request has a result; `wait_for` also when the time is over, and then returns false.
  void wait();
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit);

  // The result of one request, by its place in the list; waits for it. It is handed out once: afterwards, and beyond
  // the list, there is none (not_found).
  [[nodiscard]] Result<Launch> take(std::size_t index);

  class Work;  // the library's own

 private:
  friend class Engine;
  explicit Preparation(std::shared_ptr<Work> work);

  std::shared_ptr<Work> work_;
};

}  // namespace tma_jit

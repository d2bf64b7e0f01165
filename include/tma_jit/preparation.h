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
  int threads = 0;  // threads that plan, compile and load; 0: as many as compiles run at once
  // Called after each request in the thread that prepared it, one call at a time, with the number of finished requests
  // and their total. What it throws is dropped. It must not wait for the Preparation, or destroy it or its engine. Not
  // called for cancelled requests.
  std::function<void(std::size_t done, std::size_t total)> progress{};
};

// The requests of one Engine::prepare_async. Any thread may call any member except the destructor. The destructor, and
// the engine's, cancel requests that have not begun and wait for those that have. May outlive its engine.
class TMA_JIT_API Preparation {
 public:
  Preparation(Preparation&&) noexcept;
  Preparation& operator=(Preparation&&) noexcept;
  ~Preparation();

  std::size_t total() const;
  std::size_t done() const;  // requests that have a result, including an error

  // Cancels the requests that have not begun; their result is ErrorCode::cancelled. Returns at once.
  void cancel();

  // Return when every request has a result. `wait_for` returns false if the limit is reached first.
  void wait();
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit);

  // Waits for the result of the request at `index` and returns it. Each result is returned once: fails (not_found)
  // afterwards and if `index` is out of range.
  [[nodiscard]] Result<Launch> take(std::size_t index);

  class Work;  // private to the library

 private:
  friend class Engine;
  explicit Preparation(std::shared_ptr<Work> work);

  std::shared_ptr<Work> work_;
};

}  // namespace tma_jit

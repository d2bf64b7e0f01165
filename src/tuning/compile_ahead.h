// Launches that other threads prepare while the calling thread does something else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <tma_jit/engine.h>

namespace tma_jit::tuning {

// Prepares requests in the order given, several at a time, and returns them in order of completion. For one consumer.
class CompileAhead {
 public:
  struct Done {
    std::size_t index = 0;  // the request's
    Result<Launch> launch;
    std::chrono::steady_clock::time_point when{};  // it was prepared
  };

  // Starts at most `threads` threads; 0: as many as there are processors. Kernels of `helpers` are prepared after the
  // first request's, and are not returned: the engine has them from then on.
  CompileAhead(Engine& engine, std::vector<Request> requests, std::vector<Request> helpers, std::size_t threads = 0);
  // Begins no more, and waits for preparations that have begun.
  ~CompileAhead();
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  // Waits for one request's. At most once for each.
  Done of(std::size_t index);
  // Waits for the next finished one; nullopt once all have been returned, and when it is `until`.
  std::optional<Done> next(std::chrono::steady_clock::time_point until);
  // Begins no more. What has begun goes on, and the destructor waits for it.
  void stop();

 private:
  void work();
  // Returns the index of what the calling thread begins; nullopt if nothing is left.
  std::optional<std::size_t> begin();

  Engine& engine_;
  const std::vector<Request> requests_, helpers_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Done> done_;
  std::size_t begun_ = 0, handed_out_ = 0;  // begun_: of requests and helpers together
  std::vector<std::jthread> threads_;
};

}  // namespace tma_jit::tuning

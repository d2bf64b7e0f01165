// Launches that other threads prepare while the calling thread does something else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <tma_jit/engine.h>

namespace tma_jit::tuning {

// Prepares requests in the order given, several at a time, and returns them in order of completion. For one consumer.
class CompileAhead {
 public:
  using Done = std::pair<std::size_t, Result<Launch>>;  // the request's index, and its launch

  // Starts at most `threads` threads; 0: as many as there are processors.
  CompileAhead(Engine& engine, std::vector<Request> requests, std::size_t threads = 0);
  // Begins no more, and waits for preparations that have begun.
  ~CompileAhead();
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  // Waits for one request's. At most once for each.
  Result<Launch> of(std::size_t index);
  // Waits for the next finished one; nullopt once all have been returned, and when it is `until`.
  std::optional<Done> next(std::chrono::steady_clock::time_point until);
  // Begins no more. What has begun goes on, and the destructor waits for it.
  void stop();

 private:
  void work();

  Engine& engine_;
  const std::vector<Request> requests_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Done> done_;
  std::size_t begun_ = 0, handed_out_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace tma_jit::tuning

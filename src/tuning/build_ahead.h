// Kernels of the next problem, compiled while the device measures the present one.
#pragma once

#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include <tma_jit/engine.h>

namespace tma_jit::tuning {

// Builds the first candidates of a request in threads of its own, so that preparing them finds the kernels in the
// engine, or waits for the rest of their compiles. Errors are for whoever prepares them.
class BuildAhead {
 public:
  BuildAhead(Engine& engine, Request request, std::size_t candidates, std::size_t threads);
  // Begins no more, and waits for what has begun.
  ~BuildAhead();
  BuildAhead(const BuildAhead&) = delete;
  BuildAhead& operator=(const BuildAhead&) = delete;

  // Begins no more. What has begun goes on.
  void stop();

 private:
  void work();

  Engine& engine_;
  const Request request_;
  const std::size_t most_;
  std::mutex mutex_;
  std::once_flag listed_;
  std::vector<Candidate> candidates_;
  std::size_t begun_ = 0;
  bool stop_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tma_jit::tuning

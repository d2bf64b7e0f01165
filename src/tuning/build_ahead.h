// Kernels of a problem, compiled while the device measures the one before, or is opened.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <tma_jit/engine.h>

namespace tma_jit::tuning {

// Lists the candidates of a request and builds the first ones in threads of its own, so that preparing them finds the
// kernels in the engine, or waits for the rest of their compiles. Errors of building are for whoever prepares them.
class BuildAhead {
 public:
  // `ready`, which may be empty, is called in the threads that wait for the list.
  BuildAhead(Engine& engine, Request request, std::size_t candidates, std::size_t threads,
             std::function<void()> ready = {});
  // Begins no more, and waits for what has begun.
  ~BuildAhead();
  BuildAhead(const BuildAhead&) = delete;
  BuildAhead& operator=(const BuildAhead&) = delete;

  // Waits for the list.
  const Result<std::vector<Candidate>>& candidates();
  // Begins no more. What has begun goes on.
  void stop();

 private:
  void work();
  bool is_first();

  Engine& engine_;
  const Request request_;
  const std::size_t most_;
  const std::function<void()> ready_;
  std::mutex mutex_;
  std::once_flag first_, listed_;
  std::optional<Result<std::vector<Candidate>>> candidates_;
  std::size_t begun_ = 0;
  bool stop_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tma_jit::tuning

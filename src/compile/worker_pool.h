// Compiles in worker processes: as many beside each other as there are callers, up to a limit. A worker that crashes,
// hangs, is killed or sends a malformed answer is replaced once; the second time it is the job's error,
// and no other job's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/fork.h"
#include "compile/worker.h"

namespace tma_jit::compile {

// Thread-safe. Starts no process before `open`, which starts one, and later only when all others are busy. In a child
// of a fork it starts afresh.
class WorkerPool final : public Runner {
 public:
  struct Settings {
    Worker::Settings worker;
    int workers = 0;                                        // at most; 0: default_slots()
    int jobs_per_worker = 64;                               // then it is replaced: what NVRTC leaks is bounded
    std::uint64_t resident_bytes = std::uint64_t{1} << 30;  // or when it has grown to this
    std::uint64_t memory_bytes = 0;                         // the worker's limit, for messages
    std::function<void(const std::string&)> warn;           // a crash that a retry mended, a slow compile; any thread
  };
  struct Counts {
    std::uint64_t started = 0;  // workers
    std::uint64_t lost = 0;     // jobs that cost a worker
  };

  // Fails with the worker's own reason: absent where another program may be tried, else NVRTC's.
  [[nodiscard]] static Answer<std::shared_ptr<WorkerPool>> open(Settings settings);
  explicit WorkerPool(Settings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] Result<Outcome> run(const Job& job) override;
  const NvrtcFacts& facts() const override { return facts_; }
  std::string place() const override;
  Counts counts() const { return {started_, lost_}; }

 private:
  struct Members {
    std::mutex mutex;
    std::condition_variable freed;
    std::vector<Worker> idle;
    std::string identity;  // of the NVRTC that the latest worker loaded; workers with another are let go
    int busy = 0;
  };

  [[nodiscard]] Answer<Worker> acquire(bool fresh);
  [[nodiscard]] Answer<Worker> start();
  void give_back(Worker worker, std::uint64_t resident_bytes);
  void lose();
  [[nodiscard]] Answer<Outcome> attempt(const Job& job, bool fresh, bool alone);
  Error fatal(const WorkerFailure& first, const WorkerFailure& second) const;

  const Settings settings_;
  NvrtcFacts facts_;
  mutable PerProcess<Members> members_;
  std::atomic<std::uint64_t> started_ = 0, lost_ = 0;
};

}  // namespace tma_jit::compile

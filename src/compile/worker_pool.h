// Compiles in worker processes, one per concurrent caller up to a limit. If a worker crashes, hangs, is killed or sends
// a malformed answer, the job is repeated once in a new one; the second time the failure is returned for this job.
// Other jobs are not affected.
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

// Thread-safe. `open` starts one process; further ones start only when all are busy. In the child of a fork it starts
// new ones.
class WorkerPool final : public Runner {
 public:
  struct Settings {
    Worker::Settings worker;
    int workers = 0;                                        // most workers; 0: default_slots()
    int jobs_per_worker = 64;                               // a worker is replaced after so many, which bounds what
                                                            // NVRTC leaks
    std::uint64_t resident_bytes = std::uint64_t{1} << 30;  // a worker is also replaced when it uses this much memory
    std::uint64_t memory_bytes = 0;                         // the worker's limit, for error messages
    std::function<void(const std::string&)> warn;           // called from any thread, for a crash that a retry repaired
                                                            // and for a slow compile
  };
  struct Counts {
    std::uint64_t started = 0;  // workers
    std::uint64_t lost = 0;     // jobs during which a worker was lost
  };

  // Fails with the worker's own reason: `absent` if another program may be tried, else NVRTC's error.
  [[nodiscard]] static Answer<std::shared_ptr<WorkerPool>> open(Settings settings);
  explicit WorkerPool(Settings settings) : settings_(std::move(settings)) {}

  // Starts one more worker, if there may be one, so that a job need not wait for that.
  void make_ready();

  [[nodiscard]] Result<Outcome> run(const Job& job) override;
  const NvrtcFacts& facts() const override { return facts_; }
  std::string place() const override;
  Counts counts() const { return {started_, lost_}; }

 private:
  struct Members {
    std::mutex mutex;
    std::condition_variable freed;
    std::vector<Worker> idle;
    std::string identity;  // of the NVRTC that the latest worker loaded; workers with another are discarded
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

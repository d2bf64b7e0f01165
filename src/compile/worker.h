// One worker process, as the program sees it: takes a job and returns an outcome or a failure.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/process.h"
#include "compile/frame.h"
#include "compile/message.h"

namespace tma_jit::compile {

// Why there is no outcome. The worker cannot be used again.
struct WorkerFailure {
  enum class Kind : std::uint8_t {
    absent,         // could not be started, or is of another version
    unable,         // started, but NVRTC is unusable; `error` says why
    idle,           // ended by itself before it took the job
    crashed,        // a signal, or an exit during a job
    killed,         // SIGKILL by another process; most likely the machine ran out of memory
    out_of_memory,  // exceeded the worker's memory limit
    timed_out,
    malformed,  // its answer is malformed
  };
  Kind kind = Kind::crashed;
  std::string text;  // e.g. "SIGSEGV (Segmentation fault)", "no answer within 300 s"
  std::string log;   // the last bytes of its stderr
  Error error;
};

template <class T> using Answer = tl::expected<T, WorkerFailure>;

// Not thread-safe.
class Worker {
 public:
  struct Settings {
    Process::Command command;
    std::chrono::milliseconds start_limit{60'000};  // allows for loading NVRTC, which is 100 MB, from a slow file
                                                    // system
    std::chrono::milliseconds slot_limit{180'000};  // longer than a worker's own limit for the wait
    std::chrono::milliseconds compile_limit{300'000};
    std::chrono::milliseconds slow{30'000};  // time after which `on_slow` is called, once per job
  };

  [[nodiscard]] static Answer<Worker> start(const Settings& settings);

  // `job` is a frame's payload. `on_slow` may be empty.
  [[nodiscard]] Answer<WorkerOutcome> run(std::string_view job, const Settings& settings,
                                          const std::function<void()>& on_slow);

  // Returns whether it is running and has sent nothing, so that it can take a job.
  bool waits() const;
  const NvrtcFacts& facts() const { return facts_; }
  int jobs() const { return jobs_; }

 private:
  using Clock = std::chrono::steady_clock;
  explicit Worker(Process process) : process_(std::move(process)) {}

  // Returns the next frame, which must be of that kind. Only after timed_out may it be called again.
  [[nodiscard]] Answer<Frame> receive(FrameKind kind, Clock::time_point limit);
  [[nodiscard]] Answer<WorkerOutcome> outcome(const Settings& settings, const std::function<void()>& on_slow);
  // Returns false if nothing more can arrive.
  bool exchange(Clock::time_point limit);
  bool read_socket();
  bool read_errors();
  void send_some();
  std::string log_tail() const;
  WorkerFailure ended();
  WorkerFailure failed(WorkerFailure::Kind kind, std::string text);

  Process process_;
  FrameReader reader_;
  std::string to_send_;
  std::string log_;
  NvrtcFacts facts_;
  int jobs_ = 0;
  bool errors_open_ = true;
};

}  // namespace tma_jit::compile

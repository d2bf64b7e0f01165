// One worker process, seen from the program: a job goes in, an outcome or the reason why there is none comes out.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/process.h"
#include "compile/frame.h"
#include "compile/message.h"

namespace tma_jit::compile {

// Why there is no outcome. The worker is of no more use.
struct WorkerFailure {
  enum class Kind : std::uint8_t {
    absent,         // could not be started, or is of another version
    unable,         // started, but NVRTC cannot be used; `error` says why
    idle,           // had ended by itself before it took the job
    crashed,        // a signal, or an exit in the middle of a job
    killed,         // SIGKILL by someone else: most likely memory ran out
    out_of_memory,  // the worker's memory limit
    timed_out,
    malformed,  // what it sent is no answer
  };
  Kind kind = Kind::crashed;
  std::string text;  // "SIGSEGV (Segmentation fault)", "no answer within 300 s"
  std::string log;   // the end of what it wrote to stderr
  Error error;
};

template <class T> using Answer = tl::expected<T, WorkerFailure>;

// Not thread-safe.
class Worker {
 public:
  struct Settings {
    Process::Command command;
    std::chrono::milliseconds start_limit{60'000};  // NVRTC is 100 MB, perhaps on a slow file system
    std::chrono::milliseconds slot_limit{180'000};  // the worker itself gives up waiting before that
    std::chrono::milliseconds compile_limit{300'000};
    std::chrono::milliseconds slow{30'000};  // after which `on_slow` is called, once a job
  };

  [[nodiscard]] static Answer<Worker> start(const Settings& settings);

  // `job` is a frame's payload. `on_slow` may be empty.
  [[nodiscard]] Answer<WorkerOutcome> run(std::string_view job, const Settings& settings,
                                          const std::function<void()>& on_slow);

  // It is there and has nothing to say: fit for a job.
  bool waits() const;
  const NvrtcFacts& facts() const { return facts_; }
  int jobs() const { return jobs_; }

 private:
  using Clock = std::chrono::steady_clock;
  explicit Worker(Process process) : process_(std::move(process)) {}

  // The next frame, which must be of that kind. After timed_out, and only then, it may be asked for again.
  [[nodiscard]] Answer<Frame> receive(FrameKind kind, Clock::time_point limit);
  [[nodiscard]] Answer<WorkerOutcome> outcome(const Settings& settings, const std::function<void()>& on_slow);
  // Returns false where nothing more can come.
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

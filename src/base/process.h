// A child process: it inherits nothing, communicates over a socket, has a stderr of its own, and is always waited for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/error.h>

#include "base/descriptor.h"

namespace tma_jit {

// How a process ended.
struct ProcessEnd {
  int signal = 0;     // what killed it, 0: it ended by itself
  int status = 0;     // what it ended with
  bool known = true;  // false: someone else collected it (SIGCHLD ignored, a wait for any child)

  bool clean() const { return known && signal == 0 && status == 0; }
  // "SIGSEGV (Segmentation fault)", "exit status 3"
  std::string text() const;
};

// Belongs to the process that started it: in a fork's child it neither kills nor waits. One thread at a time.
class Process {
 public:
  struct Command {
    std::filesystem::path program;
    std::vector<std::string> arguments;  // after the program's own name
    std::vector<std::string> environment;
  };

  // The child's descriptor 0 is the socket, 1 and 2 are the pipe, and it has no other. No signal is blocked or ignored
  // in it, and it leads a process group of its own, so that a terminal's ^C is not for it. Fails with io where the
  // program cannot be started.
  [[nodiscard]] static Result<Process> start(const Command& command);

  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        owner_(other.owner_),
        end_(other.end_),
        ended_(other.ended_),
        socket_(std::move(other.socket_)),
        errors_(std::move(other.errors_)) {}
  Process& operator=(Process&&) = delete;
  ~Process();

  pid_t pid() const { return pid_; }
  int socket() const { return socket_.get(); }  // this end; does not block
  int errors() const { return errors_.get(); }  // what the child writes to stdout and stderr; does not block

  // Waits this long for it to end by itself, then kills its group; collects it. May be called again.
  ProcessEnd end(std::chrono::milliseconds patience = {});

 private:
  Process(pid_t pid, Descriptor socket, Descriptor errors);
  bool collect(std::chrono::milliseconds patience);

  pid_t pid_;
  pid_t owner_;
  ProcessEnd end_;
  bool ended_ = false;
  Descriptor socket_;
  Descriptor errors_;
};

}  // namespace tma_jit

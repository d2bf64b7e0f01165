// A child process. It inherits no descriptors, communicates over a socket, has its output in a pipe, and is always
// waited for.
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
  int signal = 0;     // the signal that killed it; 0: none
  int status = 0;     // its exit status
  bool known = true;  // false if something else waited for it (SIGCHLD ignored, a wait for any child)

  bool clean() const { return known && signal == 0 && status == 0; }
  // Returns e.g. "SIGSEGV (Segmentation fault)" or "exit status 3".
  std::string text() const;
};

// Belongs to the process that started it: in the child of a fork it neither kills nor waits. Not thread-safe.
class Process {
 public:
  struct Command {
    std::filesystem::path program;
    std::vector<std::string> arguments;  // without the program's name
    std::vector<std::string> environment;
  };

  // Starts a program. Descriptor 0 of the child is the socket, 1 and 2 are the pipe, and no other is open. No signal is
  // blocked or ignored in it, and it leads its own process group, so that a ^C at the terminal does not reach it. Fails
  // with io if the program cannot be started.
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
  int socket() const { return socket_.get(); }  // this end of the socket; non-blocking
  int errors() const { return errors_.get(); }  // this end of the pipe with the child's stdout and stderr; non-blocking

  // Waits at most this long for the process to end by itself, then kills its group and waits for it. May be called
  // again.
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

#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "core/failure.h"

namespace tma_jit {
namespace {

using Clock = std::chrono::steady_clock;

// How long to wait for a killed process to end before giving it up (it may hang in a file server).
constexpr std::chrono::seconds kDeathPatience{2};

// Duplicates the descriptor to a number above 2, which a child's standard descriptors do not overwrite.
Descriptor above_standard(Descriptor descriptor) {
  if (!descriptor || descriptor.get() > 2) return descriptor;
  return Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 3));
}

struct Ends {
  Descriptor socket, child_socket, errors, child_errors;
};

Result<Ends> make_ends() {
  int sockets[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return failure(ErrorCode::io, "socketpair: {}", std::strerror(errno));
  }
  Ends ends;
  ends.socket = above_standard(Descriptor(sockets[0]));
  ends.child_socket = above_standard(Descriptor(sockets[1]));
  if (::pipe2(pipe, O_CLOEXEC) != 0) return failure(ErrorCode::io, "pipe: {}", std::strerror(errno));
  ends.errors = above_standard(Descriptor(pipe[0]));
  ends.child_errors = above_standard(Descriptor(pipe[1]));
  if (!ends.socket || !ends.child_socket || !ends.errors || !ends.child_errors) {
    return failure(ErrorCode::io, "fcntl: {}", std::strerror(errno));
  }
  for (const int end : {ends.socket.get(), ends.errors.get()}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  return ends;
}

class SpawnSettings {
 public:
  explicit SpawnSettings(const Ends& ends) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, ends.child_socket.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions_, ends.child_errors.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions_, ends.child_errors.get(), 2);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Returns a null-terminated array for exec; the words must outlive it.
std::vector<char*> pointers(const std::vector<std::string>& words, const char* first = nullptr) {
  std::vector<char*> list;
  if (first != nullptr) list.push_back(const_cast<char*>(first));
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

ProcessEnd end_of(int status) {
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.status = WEXITSTATUS(status)};
}

}  // namespace

std::string ProcessEnd::text() const {
  if (!known) return "ended, how is not known: this program collects its children itself";
  if (signal == 0) return fmt::format("exit status {}", status);
  const char* name = ::sigabbrev_np(signal);
  const char* words = ::sigdescr_np(signal);
  return fmt::format("SIG{} ({})", name != nullptr ? name : std::to_string(signal), words != nullptr ? words : "?");
}

Result<Process> Process::start(const Command& command) {
  TMA_JIT_ASSIGN(Ends ends, make_ends());
  const SpawnSettings settings(ends);
  const std::string program = command.program.string();
  const std::vector<char*> arguments = pointers(command.arguments, program.c_str());
  const std::vector<char*> environment = pointers(command.environment);
  pid_t pid = -1;
  const int fault = ::posix_spawn(&pid, program.c_str(), settings.actions(), settings.attributes(), arguments.data(),
                                  environment.data());
  if (fault != 0) return failure(ErrorCode::io, "cannot start {}: {}", program, std::strerror(fault));
  return Process(pid, std::move(ends.socket), std::move(ends.errors));
}

Process::Process(pid_t pid, Descriptor socket, Descriptor errors)
    : pid_(pid), owner_(::getpid()), socket_(std::move(socket)), errors_(std::move(errors)) {}

Process::~Process() {
  if (pid_ > 0) end();
}

ProcessEnd Process::end(std::chrono::milliseconds patience) {
  if (ended_ || owner_ != ::getpid()) return end_;
  if (!collect(patience)) {
    // The child has not been waited for, so that its number cannot have been reused.
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    if (!collect(kDeathPatience)) end_.known = false;
  }
  ended_ = true;
  return end_;
}

// Returns false if the process is still running.
bool Process::collect(std::chrono::milliseconds patience) {
  const Clock::time_point limit = Clock::now() + patience;
  std::chrono::microseconds pause{50};
  while (true) {
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == pid_) {
      end_ = end_of(status);
      return true;
    }
    if (got < 0 && errno != EINTR) {
      end_.known = false;
      return true;
    }
    if (Clock::now() >= limit) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(5));
  }
}

}  // namespace tma_jit

// Commands of the system that a scenario needs, such as mount.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace tma_jit::stress {

// What sh ends with, -1 where a signal ended it. Its words go nowhere. Descriptors of this process other than the
// standard ones are not for it: a daemon that it starts would hold them for ever, and the locks on them.
inline int shell(const std::string& command) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (int standard = 0; standard <= 2; ++standard) ::dup2(nowhere, standard);
    (void)::close_range(3, ~0U, 0);
    ::execl("/bin/sh", "sh", "-c", ("PATH=$PATH:/sbin:/usr/sbin; " + command).c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

inline bool has_program(const std::string& name) {
  return shell("command -v " + name) == 0;
}

}  // namespace tma_jit::stress

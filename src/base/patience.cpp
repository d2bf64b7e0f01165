#include "base/patience.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <thread>

namespace tma_jit {

// The thread inherits the signal mask of its creator.
bool start_detached(std::function<void()> work) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace tma_jit

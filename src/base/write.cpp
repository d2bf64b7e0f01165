#include "base/write.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace tma_jit {
namespace {

// Blocks SIGXFSZ, which Linux sends to the writing thread, and removes it if a write raised it.
class HeldBack {
 public:
  HeldBack() {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    // If one is pending already, it is the caller's. Signals of this kind do not queue, so that a later one would merge
    // with it.
    foreign_ = ::sigismember(&before_, SIGXFSZ) == 1 && is_pending();
  }
  ~HeldBack() {
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  HeldBack(const HeldBack&) = delete;
  HeldBack& operator=(const HeldBack&) = delete;

  void take_back() const {
    const int error = errno;
    const timespec at_once{};
    if (!foreign_ && is_pending()) ::sigtimedwait(&signal_, nullptr, &at_once);
    errno = error;
  }

 private:
  static bool is_pending() {
    sigset_t pending;
    return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
  }

  sigset_t signal_{}, before_{};
  bool foreign_ = false;
};

template <class Write> ssize_t without_signal(Write write) {
  const HeldBack held;
  const ssize_t put = write();
  if (put < 0 && errno == EFBIG) held.take_back();
  return put;
}

}  // namespace

ssize_t write_some(int file, const void* bytes, std::size_t size) {
  return without_signal([&] { return ::write(file, bytes, size); });
}

ssize_t write_some_at(int file, const void* bytes, std::size_t size, off_t at) {
  return without_signal([&] { return ::pwrite(file, bytes, size, at); });
}

}  // namespace tma_jit

#include "tuning/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "core/failure.h"

namespace tma_jit::tuning {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

}  // namespace

Result<FileLock> FileLock::take(const std::filesystem::path& guarded, const char* suffix,
                                std::chrono::steady_clock::time_point until, const std::function<bool()>& stopped) {
  TMA_JIT_CHECK(check_replaceable(guarded));  // else a lock file would lie beside a folder or device
  std::filesystem::path path = guarded;
  path += suffix;
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file) return failure(ErrorCode::io, "cannot open {}: {}", path.string(), std::strerror(errno));
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return failure(ErrorCode::io, "cannot lock {}: {}", path.string(), std::strerror(errno));
    }
    if (std::chrono::steady_clock::now() >= until) {
      return failure(ErrorCode::io, "another process holds {}", path.string());
    }
    if (stopped && stopped()) return failure(ErrorCode::cancelled, "the wait for {} was ended", path.string());
    std::this_thread::sleep_for(kPoll);
  }
  return FileLock(std::move(file));
}

}  // namespace tma_jit::tuning

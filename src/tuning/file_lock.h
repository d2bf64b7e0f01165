// A lock between processes, held by the operating system's kernel: it is released when its process ends, however that
// happens.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

#include <tma_jit/error.h>

#include "base/descriptor.h"

namespace tma_jit::tuning {

// Held until destruction. The lock file lies beside the guarded file and is never removed.
class FileLock {
 public:
  // Waits until the given time. Fails (io) if the guarded path is there and is no regular file, if the lock file cannot
  // be created or another process still holds it, and (cancelled) once `stopped`, which may be empty, returns true.
  [[nodiscard]] static Result<FileLock> take(const std::filesystem::path& guarded, const char* suffix,
                                             std::chrono::steady_clock::time_point until,
                                             const std::function<bool()>& stopped = {});

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace tma_jit::tuning

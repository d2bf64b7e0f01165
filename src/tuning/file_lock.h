// A lock between processes, kept by the kernel: it ends with its process, however that ends.
#pragma once

#include <chrono>
#include <filesystem>

#include <tma_jit/error.h>

#include "base/descriptor.h"

namespace tma_jit::tuning {

// Held until destruction, on a file of its own beside the one it guards, which is never removed.
class FileLock {
 public:
  // Waits until the time. Fails (io) where the lock file cannot be made or where another process keeps it.
  [[nodiscard]] static Result<FileLock> take(const std::filesystem::path& guarded, const char* suffix,
                                             std::chrono::steady_clock::time_point until);

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace tma_jit::tuning

// Remembers, in this process and next to the cache, which kernels crash the current compiler, so that they are not
// tried again. A kernel's key contains the compiler's identity, so that another NVRTC means another key.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <tma_jit/artifact.h>

#include "base/patience.h"

namespace tma_jit::engine {

// Thread-safe. Remembers at most 256 crashes; on disk each for a week, because the machine may have been the cause.
class CrashMemory {
 public:
  static constexpr std::size_t kMost = 256;
  struct Crash {
    std::string reason;      // description of the crash
    bool mentioned = false;  // whether it has been asked for before
  };
  using Crashes = std::map<Key, Crash>;

  // If `folder` is empty, remembers only in this process. The folder is read once, at the first query.
  explicit CrashMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Returns whether nothing is remembered; cheap, because this is the usual case.
  bool empty();
  // Returns whether the limit is reached, so that nothing more is remembered.
  bool full() const { return count_ >= kMost; }
  std::optional<Crash> find(const Key& key);
  // If `lasting`, also stores the crash on disk.
  void remember(const Key& key, const std::string& reason, bool lasting);

 private:
  void load();
  void write(const Key& key, const std::string& reason) const;

  const std::filesystem::path folder_;
  const Patience patience_{std::chrono::seconds(10)};
  std::once_flag loaded_;
  std::atomic<std::size_t> count_ = 0;
  std::mutex mutex_;
  Crashes crashes_;
};

}  // namespace tma_jit::engine

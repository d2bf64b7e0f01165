// Which kernels crash the compiler at hand, remembered in this process and beside the cache, so that they are not tried
// again. The key of a kernel holds the compiler's identity: another NVRTC is another key.
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

// Thread-safe. At most 256 are remembered, on disk each for a week: a crash may have been the machine's fault.
class CrashMemory {
 public:
  static constexpr std::size_t kMost = 256;
  struct Crash {
    std::string reason;      // what happened when it was compiled
    bool mentioned = false;  // asked for before
  };
  using Crashes = std::map<Key, Crash>;

  // Where `folder` is empty, only in this process. It is read at the first question, and only then.
  explicit CrashMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Nothing is remembered: the common answer, and a cheap one.
  bool empty();
  // Nothing more is remembered.
  bool full() const { return count_ >= kMost; }
  std::optional<Crash> find(const Key& key);
  // `lasting`: on disk too.
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

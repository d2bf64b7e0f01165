// What is done about a kernel that has to be compiled: reported or refused where the engine is sealed, and written to a
// list where one is kept.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>

#include <tma_jit/engine.h>

#include "base/log.h"
#include "engine/counters.h"

namespace tma_jit::engine {

// Thread-safe.
class Misses {
 public:
  Misses(const Options& options, Logger log, Counters& counters)
      : seal_(options.seal),
        callback_(options.on_sealed_miss),
        list_(options.record_misses),
        log_(std::move(log)),
        counters_(counters) {}

  void seal(Seal seal) { seal_ = seal; }

  struct Cause {
    std::function<std::string()> explain;  // called only where it is wanted
    bool can_compile = true;
  };
  // Before a compile, or where one is needed that cannot be. Fails (sealed) where there is to be none.
  [[nodiscard]] Result<void> admit(const Source& source, const Key& key, const Cause& cause);

  // After one. Lines of several processes do not mix: each is one write to the end of the file.
  void record(const Plan& plan);

 private:
  std::atomic<Seal> seal_;
  const MissCallback callback_;
  const std::filesystem::path list_;
  const Logger log_;
  Counters& counters_;
  std::once_flag failed_;
};

}  // namespace tma_jit::engine

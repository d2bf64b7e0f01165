// Handles a kernel that has to be compiled: reports or refuses it if the engine is sealed, and appends it to the list
// of misses if one is kept.
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
  bool sealed() const { return seal_ != Seal::off; }

  struct Cause {
    std::function<std::string()> explain;  // called only if the explanation is needed
    bool can_compile = true;
  };
  // Call it before a compile, or if one is needed but no compiler exists. Fails (sealed) if the seal forbids compiles.
  [[nodiscard]] Result<void> admit(const Source& source, const Key& key, const Cause& cause);

  // Call it after a compile. Several processes may write to the file: each line is a single write to its end.
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

// Engines for tests: a cache folder of their own, their log kept, and the driver they are given.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <tma_jit/engine.h>

#include "engine/state.h"
#include "support/temporary_folder.h"

namespace tma_jit::testing {

class TestLog {
 public:
  LogCallback callback() {
    return [this](LogLevel level, std::string_view message) {
      const std::lock_guard lock(mutex_);
      if (level >= LogLevel::warning) warnings_.emplace_back(message);
    };
  }
  std::vector<std::string> warnings() {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

inline Engine engine_with(Options options, driver::Provider provider) {
  return EngineInternals::engine_of(std::make_shared<Engine::State>(std::move(options), std::move(provider)));
}

// A driver that is not there.
inline driver::Provider no_driver() {
  return []() -> Result<driver::SharedApi> {
    return tl::make_unexpected(Error{ErrorCode::driver, "no CUDA driver", "libcuda.so.1: not found\n"});
  };
}

}  // namespace tma_jit::testing

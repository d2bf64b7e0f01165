// Ranges for a profiler's timeline (NVTX 3), where one is attached to the process; without one, a look at one flag.
#pragma once

#include <atomic>
#include <string_view>

namespace tma_jit::profile {

namespace state {
extern std::atomic<bool> attached;
}

// Finds the profiler, once in a process: NVTX loads what $NVTX_INJECTION64_PATH names. A set-user-id process has none,
// nor has a build without CUDA's nvtx3 headers.
void attach();

inline bool attached() {
  return state::attached.load(std::memory_order_relaxed);
}

// From here to its end on this thread, as "VERB NAME" in the domain "tma-jit".
class Range {
 public:
  Range(std::string_view verb, std::string_view name) {
    if (attached()) [[unlikely]]
      begin(verb, name);
  }
  ~Range() {
    if (begun_) [[unlikely]]
      end();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  void begin(std::string_view verb, std::string_view name);
  void end();
  bool begun_ = false;
};

}  // namespace tma_jit::profile

// Ranges for a profiler's timeline (NVTX 3) if a profiler is attached; otherwise each costs the test of one flag.
#pragma once

#include <atomic>
#include <string_view>

namespace tma_jit::profile {

namespace state {
extern std::atomic<bool> attached;
}

// Attaches to the profiler, once per process: NVTX loads the library that $NVTX_INJECTION64_PATH names. Does nothing in
// a set-user-id process or in a build without CUDA's nvtx3 headers.
void attach();

inline bool attached() {
  return state::attached.load(std::memory_order_relaxed);
}

// A range named "VERB NAME" in the domain "tma-jit" on this thread, from construction to destruction.
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

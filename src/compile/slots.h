// How many compilers run on this machine at a time, whichever programs they work for. A slot is a lock on a byte of one
// file: the worker that compiles holds it, and the kernel frees it when the worker ends, however it ends.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/descriptor.h"

namespace tma_jit::compile {

// A slot is not required: where no file can be used, or none comes free in time, the compile goes on without one.
// One thread at a time.
class Slots {
 public:
  struct Settings {
    std::filesystem::path file;  // empty: /tmp or /dev/shm, one for each user
    int count = 0;               // 0: processors, or less where there is not 1 GiB of free memory for each
    std::chrono::milliseconds patience{120'000};
  };
  explicit Slots(Settings settings);

  // Waits for a slot; for all of them where `alone`. Returns whether it is held, which it is until `release`.
  bool take(bool alone = false);
  void release();
  int count() const { return settings_.count; }

 private:
  bool lock(int slot, std::chrono::steady_clock::time_point limit);
  bool take_any(std::chrono::steady_clock::time_point limit);

  Settings settings_;
  Descriptor file_;
};

// Processors this process may use, or fewer where there is not 1 GiB of available memory for each; at least 1.
int default_slots();

}  // namespace tma_jit::compile

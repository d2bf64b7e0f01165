// Limits the number of compilers that run on this machine at a time, for all programs. A slot is a lock on a byte of
// one file: the worker that compiles holds it, and the Linux kernel releases it when the worker ends in any way.
#pragma once

#include <chrono>
#include <filesystem>

#include "base/descriptor.h"

namespace tma_jit::compile {

// Slots are optional: if no file can be used, or none becomes free in time, the compile runs without one. Not
// thread-safe.
class Slots {
 public:
  struct Settings {
    std::filesystem::path file;  // empty: in /tmp or /dev/shm, one per user
    int count = 0;               // 0: the number of processors, or less if there is not 1 GiB of free memory for each
    std::chrono::milliseconds patience{120'000};
  };
  explicit Slots(Settings settings);

  // Waits for a slot, or for all of them if `alone`. Returns whether it is held; it is held until `release`.
  bool take(bool alone = false);
  void release();
  int count() const { return settings_.count; }

 private:
  bool lock(int slot, std::chrono::steady_clock::time_point limit);
  bool take_any(std::chrono::steady_clock::time_point limit);

  Settings settings_;
  Descriptor file_;
};

// Returns the number of processors that this process may use, or fewer if there is not 1 GiB of available memory for
// each; at least 1.
int default_slots();

}  // namespace tma_jit::compile

// Which bytes of an allocation have been written, one bit per byte. The bits of untouched bytes take no memory.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "emulator/word.h"

namespace tma_jit::emulator::check {

// Thread-safe.
class Written {
 public:
  static std::unique_ptr<Written> make(u64 bytes);  // returns null if the host has no memory

  bool complete() const { return missing_.load(std::memory_order_relaxed) == 0; }
  void mark(u64 offset, u64 bytes);
  // Counts every byte as written from now on.
  void assume_all() { missing_.store(0, std::memory_order_relaxed); }
  // Returns the offset of the first byte of the range that has not been written, or the end of the range.
  u64 first_missing(u64 offset, u64 bytes) const;
  bool has_any(u64 offset, u64 bytes) const;

  // Return and restore the whole state. No other thread may call mark() meanwhile.
  std::vector<u64> state() const;
  void set_state(const std::vector<u64>& state);

 private:
  explicit Written(u64 bytes);
  u64 word(u64 index) const { return std::atomic_ref<u64>(bits_.get()[index]).load(std::memory_order_relaxed); }
  // Calls `f` with each word of the range and the mask of the range's bits in it, until `f` returns true.
  template <class F> static void each_word(u64 offset, u64 bytes, F f);

  struct Free {
    void operator()(u64* bits) const { std::free(bits); }
  };
  const u64 bytes_;
  std::unique_ptr<u64, Free> bits_;
  std::atomic<u64> missing_;  // bytes; if 0, the bits are not consulted
};

}  // namespace tma_jit::emulator::check

// Which bytes of an allocation anything has written, a bit a byte. The bits of what nobody touches cost no memory.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "emulator/word.h"

namespace tma_jit::emulator::check {

// Any number of threads at a time.
class Written {
 public:
  static std::unique_ptr<Written> make(u64 bytes);  // null where the host has no memory

  bool complete() const { return missing_.load(std::memory_order_relaxed) == 0; }
  void mark(u64 offset, u64 bytes);
  // From here on every byte counts as written.
  void assume_all() { missing_.store(0, std::memory_order_relaxed); }
  // The offset of the first byte of the range that nothing has written, or the range's end.
  u64 first_missing(u64 offset, u64 bytes) const;
  bool has_any(u64 offset, u64 bytes) const;

  // The whole state, to come back to. Only while no other thread marks.
  std::vector<u64> state() const;
  void set_state(const std::vector<u64>& state);

 private:
  explicit Written(u64 bytes);
  u64 word(u64 index) const { return std::atomic_ref<u64>(bits_.get()[index]).load(std::memory_order_relaxed); }
  // `f` is given each word of the range, and which of its bits the range has; it ends with the first true.
  template <class F> static void each_word(u64 offset, u64 bytes, F f);

  struct Free {
    void operator()(u64* bits) const { std::free(bits); }
  };
  const u64 bytes_;
  std::unique_ptr<u64, Free> bits_;
  std::atomic<u64> missing_;  // bytes; 0 lets all else be skipped
};

}  // namespace tma_jit::emulator::check

// Device memory: host memory with a table of what is allocated, and which of its bytes anything has written.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/check/written.h"
#include "emulator/word.h"

namespace tma_jit::emulator {

struct Allocation {
  u64 begin = 0, end = 0;
  bool read_only = false;
  std::string name;                   // "an allocation of 4096 bytes", "the kernel's parameters"
  check::Written* written = nullptr;  // lives as long as the allocation; null: all of it is
  bool holds(u64 address, u64 bytes) const {
    return address >= begin && bytes <= end - begin && address <= end - bytes;
  }
};

// Thread-safe.
class GlobalMemory {
 public:
  // 0 where the host has no memory. Aligned as cuMemAlloc does; filled with bytes that are no sensible number.
  u64 allocate(u64 bytes);
  bool free(u64 address);  // false: nothing was allocated there, or a kernel did it
  // The host, or what is not checked, has written there: the range lies in one allocation.
  void wrote(u64 address, u64 bytes);
  void assume_all_written();
  // malloc and free of kernels: a heap of 8 MiB, whose memory stays until a kernel frees it. 0: it is full.
  u64 allocate_in_kernel(u64 bytes);
  bool free_in_kernel(u64 address);  // false: no kernel allocated it
  // Memory that someone else owns, for as long as it is not withdrawn.
  void admit(u64 address, u64 bytes, std::string name, bool read_only);
  void withdraw(u64 address);

  // An allocation with an end of 0 where there is none.
  Allocation find(u64 address, u64 bytes) const;
  // "12 bytes past the end of an allocation of 4096 bytes at 0x..."; "not in any allocation".
  std::string whereabouts(u64 address) const;
  u64 allocated() const;
  std::vector<Allocation> all() const;  // by address

 private:
  struct Owned {
    std::unique_ptr<u8[]> storage;
    std::unique_ptr<check::Written> written;
  };
  u64 allocate(u64 bytes, u64 guard);
  const Allocation* before(u64 address) const;

  mutable std::mutex mutex_;
  std::map<u64, Allocation> allocations_;
  std::map<u64, Owned> owned_;
  std::map<u64, u64> heap_;  // of kernels: what each takes of the heap, by address
  u64 allocated_ = 0, heap_bytes_ = 0;
};

}  // namespace tma_jit::emulator

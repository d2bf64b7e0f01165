// Device memory: host memory with a table of allocations and a record of which bytes have been written.
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
  check::Written* written = nullptr;  // lives as long as the allocation; null: all bytes count as written
  bool holds(u64 address, u64 bytes) const {
    return address >= begin && bytes <= end - begin && address <= end - bytes;
  }
};

// Thread-safe.
class GlobalMemory {
 public:
  // Returns 0 if the host has no memory. The result is aligned as cuMemAlloc aligns and is filled with a poison
  // pattern.
  u64 allocate(u64 bytes);
  bool free(u64 address);  // returns false if there is no such allocation or a kernel made it
  // Marks a range within one allocation as written, by the host or by an unchecked write.
  void mark_written(u64 address, u64 bytes);
  void assume_all_written();
  // malloc() and free() of kernels: a heap of 8 MiB, whose allocations live until a kernel frees them. Returns 0 if it
  // is full.
  u64 allocate_in_kernel(u64 bytes);
  bool free_in_kernel(u64 address);  // returns false if no kernel allocated it
  // Makes memory that the caller owns accessible until unregister_external().
  void register_external(u64 address, u64 bytes, std::string name, bool read_only);
  void unregister_external(u64 address);

  // Returns the allocation that contains the range; `end` is 0 if there is none.
  Allocation find(u64 address, u64 bytes) const;
  // Returns a text such as "12 bytes past the end of an allocation of 4096 bytes at 0x..." or "not in any allocation".
  std::string describe(u64 address) const;
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
  std::map<u64, u64> heap_;  // the kernels' heap: sizes including overhead, by address
  u64 allocated_ = 0, heap_bytes_ = 0;
};

}  // namespace tma_jit::emulator

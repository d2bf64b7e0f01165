// Joins adjacent accesses before they are reported to the checkers.
#pragma once

#include <algorithm>

#include "emulator/check/access.h"

namespace tma_jit::emulator {

class Block;
class Machine;

// The accesses of one instruction or of one part of a copy. Adjacent accesses are reported to the checkers as one.
template <class Memory> class Accesses {
 public:
  // All three arguments must outlive this object.
  Accesses(Machine& machine, Memory& memory, const check::Access& access)
      : machine_(machine), memory_(memory), access_(access) {}
  void add(u64 address, u64 bytes) {
    if (address >= begin_ && address <= end_) {
      end_ = std::max(end_, address + bytes);
      return;
    }
    finish();
    begin_ = address;
    end_ = address + bytes;
  }
  void finish() {
    if (end_ != begin_) record_access(machine_, memory_, begin_, end_ - begin_, access_);
    begin_ = end_ = 0;
  }

 private:
  Machine& machine_;
  Memory& memory_;
  const check::Access& access_;
  u64 begin_ = 0, end_ = 0;
};

// Accesses to global memory by a block, and to a block's own shared memory by offset.
using GlobalAccesses = Accesses<const Block>;
using SharedAccesses = Accesses<Block>;
void record_access(Machine& machine, const Block& by, u64 address, u64 bytes, const check::Access& access);
void record_access(Machine& machine, Block& owner, u64 offset, u64 bytes, const check::Access& access);

}  // namespace tma_jit::emulator

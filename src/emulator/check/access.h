// One access to memory, as the checkers are told of it.
#pragma once

#include <algorithm>
#include <string_view>

#include "emulator/check/clock.h"
#include "emulator/word.h"

namespace tma_jit::emulator {
class Block;
class Machine;
}  // namespace tma_jit::emulator

namespace tma_jit::emulator::check {

struct Access {
  enum Flags : u8 {
    kAsync = 1,   // through the asynchronous proxy
    kStrong = 2,  // atomic, or ordered by its own scope and semantics: races with weak accesses only
  };
  bool write = false;
  Stamp stamp;
  const Clocks* clocks = nullptr;  // what the access is ordered after
  std::string_view what;           // "ld.shared", "a tensor copy"
  bool updates = false;            // a write that reads first: an atomic operation, a reduction
  u32 unit = 1;                    // bytes of which one that matters may bring along others: a lane's vector
};

// The accesses of one instruction or of one part of a copy. Those that follow each other are told to the checkers as
// one.
template <class Memory> class Accesses {
 public:
  // All three live longer.
  Accesses(Machine& machine, Memory& memory, const Access& access)
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
    if (end_ != begin_) tell(machine_, memory_, begin_, end_ - begin_, access_);
    begin_ = end_ = 0;
  }

 private:
  Machine& machine_;
  Memory& memory_;
  const Access& access_;
  u64 begin_ = 0, end_ = 0;
};

// To global memory, by a block; and to a block's own shared memory, by offset.
using GlobalAccesses = Accesses<const Block>;
using SharedAccesses = Accesses<Block>;
void tell(Machine& machine, const Block& by, u64 address, u64 bytes, const Access& access);
void tell(Machine& machine, Block& owner, u64 offset, u64 bytes, const Access& access);

}  // namespace tma_jit::emulator::check

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

// The accesses to global memory of one instruction or of one part of a copy. Those that follow each other are told to
// the checkers as one.
class GlobalAccesses {
 public:
  // All three live longer.
  GlobalAccesses(Machine& machine, const Block& block, const Access& access)
      : machine_(machine), block_(block), access_(access) {}
  void add(u64 address, u64 bytes) {
    if (address >= begin_ && address <= end_) {
      end_ = std::max(end_, address + bytes);
      return;
    }
    finish();
    begin_ = address;
    end_ = address + bytes;
  }
  void finish();

 private:
  Machine& machine_;
  const Block& block_;
  const Access& access_;
  u64 begin_ = 0, end_ = 0;
};

}  // namespace tma_jit::emulator::check

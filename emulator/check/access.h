// One access to memory, as the checkers are told of it.
#pragma once

#include <string_view>

#include "emulator/check/clock.h"
#include "emulator/word.h"

namespace tma_jit::emulator::check {

struct Access {
  enum Flags : u8 {
    kAsync = 1,     // through the asynchronous proxy
    kStrong = 2,    // atomic, or ordered by its own scope and semantics: races with weak accesses only
    kRepeated = 4,  // lanes of one store have written one value: a lane's write that another lane's has done already
  };
  bool write = false;
  Stamp stamp;
  const Clocks* clocks = nullptr;  // what the access is ordered after
  std::string_view what;           // "ld.shared", "a tensor copy"
  bool updates = false;            // a write that reads first: an atomic operation, a reduction
  u32 unit = 1;                    // bytes of which one that matters may bring along others: a lane's vector
};

}  // namespace tma_jit::emulator::check

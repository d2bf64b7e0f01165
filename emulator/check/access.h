// One access to memory, as reported to the checkers.
#pragma once

#include <string_view>

#include "emulator/check/clock.h"
#include "emulator/word.h"

namespace tma_jit::emulator::check {

struct Access {
  enum Flags : u8 {
    kAsync = 1,     // through the asynchronous proxy
    kStrong = 2,    // atomic, or ordered by its own scope and semantics: races with weak accesses only
    kRepeated = 4,  // a lane of a store writes the value that another lane of the same store has already written
  };
  bool write = false;
  Stamp stamp;
  const Clocks* clocks = nullptr;  // what the access is ordered after
  std::string_view what;           // "ld.shared", "a tensor copy"
  bool updates = false;            // the write reads first: an atomic operation or a reduction
  u32 unit = 1;                    // in bytes; the size of a lane's vector, of which some elements may be unused
};

}  // namespace tma_jit::emulator::check

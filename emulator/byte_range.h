// A range of bytes of a block's shared memory.
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator {

struct ByteRange {
  u32 offset = 0;  // in bytes from the start of the block's shared memory
  u32 bytes = 0;
};

}  // namespace tma_jit::emulator

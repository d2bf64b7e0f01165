// Registers of a warp as the matrix instructions see them.
#pragma once

#include <cstring>
#include <span>

#include "emulator/word.h"

namespace tma_jit::emulator::matrix {

// One pointer a register, each to the 32 lanes' values one after the other: 4 bytes a lane, or 8 where the instruction
// has 64-bit elements. Owned by the caller.
using Registers = std::span<u8* const>;

inline u32 lane_word(Registers registers, std::size_t index, int lane) {
  u32 word;
  std::memcpy(&word, registers[index] + std::ptrdiff_t{4} * lane, sizeof word);
  return word;
}

inline void set_lane_word(Registers registers, std::size_t index, int lane, u32 word) {
  std::memcpy(registers[index] + std::ptrdiff_t{4} * lane, &word, sizeof word);
}

// Some bytes of shared memory: what an instruction reads or writes there.
struct Span {
  u32 offset = 0;
  u32 bytes = 0;
};

}  // namespace tma_jit::emulator::matrix

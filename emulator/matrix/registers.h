// Registers of a warp, as the matrix instructions access them.
#pragma once

#include <cstring>
#include <span>

#include "emulator/word.h"

namespace tma_jit::emulator::matrix {

// One pointer per register, each to the values of the 32 lanes in order: 4 bytes per lane, or 8 for 64-bit elements.
// Owned by the caller.
using Registers = std::span<u8* const>;

inline u32 lane_word(Registers registers, std::size_t index, int lane) {
  u32 word;
  std::memcpy(&word, registers[index] + std::ptrdiff_t{4} * lane, sizeof word);
  return word;
}

inline void set_lane_word(Registers registers, std::size_t index, int lane, u32 word) {
  std::memcpy(registers[index] + std::ptrdiff_t{4} * lane, &word, sizeof word);
}

}  // namespace tma_jit::emulator::matrix

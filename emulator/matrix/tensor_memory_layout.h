// Tensor memory: 128 lanes of 512 columns of 32 bits per SM. PTX ISA 9.0, "Tensor Memory".
#pragma once

#include "emulator/word.h"

namespace tma_jit::emulator::matrix {

inline constexpr u32 kTensorLanes = 128;
inline constexpr u32 kTensorColumns = 512;

// An address holds the lane in its upper 16 bits and the column in its lower 16.
inline u32 lane_of(u32 address) {
  return address >> 16;
}
inline u32 column_of(u32 address) {
  return address & 0xffff;
}

// Returns the word of a lane and a column. A lane is a row of kTensorColumns words.
inline u32* word_at(u32* tensor, u32 lane, u32 column) {
  return tensor + std::size_t{lane} * kTensorColumns + column;
}
inline const u32* word_at(const u32* tensor, u32 lane, u32 column) {
  return tensor + std::size_t{lane} * kTensorColumns + column;
}

// A rectangle of tensor memory that an instruction accesses.
struct Region {
  u32 lane = 0;
  u32 lanes = 0;
  u32 column = 0;
  u32 columns = 0;
};

// Throws a tensor_memory fault that names `what` if the region exceeds the memory.
void check_inside(const Region& region, const char* what);

}  // namespace tma_jit::emulator::matrix

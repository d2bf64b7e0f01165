#pragma once
// A lane's index as PTX names it. PTX ISA 9.0, "Special Registers: %laneid".
#include "device/types.cuh"

// Returns threadIdx.x % 32 of a block whose other dimensions are 1, read anew: what follows from it is computed where
// it is used and not kept in a register throughout a loop.
__device__ inline u32 lane_anew() {
  u32 lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

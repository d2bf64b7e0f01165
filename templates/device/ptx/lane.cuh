#pragma once
// Indices of a thread as PTX names them. PTX ISA 9.0, "Special Registers: %laneid" and "%tid".
#include "device/types.cuh"

// Returns threadIdx.x % 32 of a block whose other dimensions are 1, read anew: what follows from it is computed where
// it is used and not kept in a register throughout a loop.
__device__ inline u32 lane_anew() {
  u32 lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
// Returns threadIdx.x, read anew likewise.
__device__ inline u32 thread_anew() {
  u32 thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

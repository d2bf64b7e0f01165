#pragma once
// The end of a sum over a grid: the last block to come finishes what the others have left in global memory.
#include "device/types.cuh"

// True in the last of `blocks` blocks to call, which sees everything the calling threads of the others wrote before. By
// one thread of each block, after a barrier of the block where other threads wrote. The counter is 0 before the first
// call, and 0 again after the last.
__device__ inline bool last_arriver(u32* counter, u32 blocks) {
  __threadfence();
  if (atomicAdd(counter, 1) + 1 != blocks) return false;
  atomicExch(counter, 0);
  __threadfence();
  return true;
}

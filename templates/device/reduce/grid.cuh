#pragma once
// The end of a sum over a grid: the last block to arrive processes what the others have left in global memory.
#include "device/ptx/acq_rel.cuh"
#include "device/types.cuh"

// Returns true in the last of `blocks` blocks to call, which then sees everything that the calling threads of the
// others wrote before. Called by one thread of each block, after a barrier of the block if other threads wrote. The
// counter must be 0 before the first call, and is 0 again after the last.
__device__ inline bool last_arriver(u32* counter, u32 blocks) {
  fence::acq_rel_gpu();
  if (atomicInc(counter, blocks - 1) + 1 != blocks) return false;
  fence::acq_rel_gpu();
  return true;
}

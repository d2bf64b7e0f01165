#pragma once
// Tiles assigned at run time to whichever block is free, so that fast blocks process more tiles and none waits for the
// slowest.
#include "device/types.cuh"

// Uses a counter in global memory, which must be 0 before the launch. All threads of the block call next together.
class TicketSchedule {
 public:
  // `shared` is a word of shared memory reserved for this object.
  __device__ TicketSchedule(u32* counter, u32& shared) : counter_(counter), shared_(shared) {}

  // Returns the next tile's index; if it is past the last tile, the block ends.
  __device__ u32 next() {
    if (threadIdx.x == 0) shared_ = atomicAdd(counter_, 1);
    __syncthreads();
    const u32 index = shared_;
    __syncthreads();
    return index;
  }

 private:
  u32* counter_;
  u32& shared_;
};

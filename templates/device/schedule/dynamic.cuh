#pragma once
// Tiles handed out while the kernel runs, to whoever is free: fast blocks make more of them, and none waits for the
// slowest.
#include "device/types.cuh"

// By a counter in global memory, which is 0 before the launch. All threads of the block call next together.
class TicketSchedule {
 public:
  // `shared` is a word of shared memory for this alone.
  __device__ TicketSchedule(u32* counter, u32& shared) : counter_(counter), shared_(shared) {}

  // The next tile's index, which may be past the last tile: then the block ends.
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

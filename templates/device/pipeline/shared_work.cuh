#pragma once
// Work that the blocks of a grid share before they go on with what needs all of it. They draw its parts: a part that is
// not done belongs to a block that runs, so that waiting for all of them ends however few blocks the device runs at a
// time.
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/acquire.cuh"

struct SharedWork {
  u32* counters;  // three words, 0 before and after each launch: parts drawn, parts done, blocks that saw all done
  u32 parts;

  // Returns the number of a part; `parts` or more if none is left, once for each of `drawers`, the last of which resets
  // the counter. Called by one thread of a drawer until none is left.
  __device__ u32 draw(u32 drawers) const { return atomicInc(&counters[0], parts + drawers - 1); }
  // Counts parts that the calling thread's writes complete.
  __device__ void add_done(u32 count) const {
    if (count > 0) global::add_release(&counters[1], count);
  }
  // Waits until all parts are done. Called once in each block, by a warp.
  __device__ void await() const {
    global::await(&counters[1], parts);
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    fence::acq_rel_gpu();
    if (atomicInc(&counters[2], gridDim.x - 1) != gridDim.x - 1) return;
    fence::acq_rel_gpu();  // the others have read the counter that the last block resets
    counters[1] = 0;
  }
};

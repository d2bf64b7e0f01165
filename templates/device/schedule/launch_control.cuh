#pragma once
// Tiles assigned by the hardware, for sm_100 and newer: the grid has a block for each tile, and a block that is done
// takes over one that has not begun. Blocks of other kernels can start in between, as if no block were persistent.
#include "device/ptx/clusterlaunchcontrol.cuh"
#include "device/ptx/fence.cuh"

// Must be in shared memory. Supports no clusters and only one dimension.
struct CancelSchedule {
  launch_control::Response response;
  Barrier full;

  // Called by one thread, before a barrier of the block.
  __device__ void init() {
    full.init(1);
    fence_barrier_init();
  }
  // Returns the next tile's index, or -1. Called by all threads of the block together, until it returns -1. `parity` is
  // 0 initially and is toggled by each call. The fence orders all reads of the answer before the next answer is
  // written.
  __device__ int next(u32& parity) {
    if (threadIdx.x == 0) {
      full.expect(sizeof(response));
      launch_control::try_cancel(response, full);
    }
    full.wait(parity);
    parity ^= 1;
    const int index = launch_control::first_block(response);
    fence::proxy_async_shared();
    __syncthreads();
    return index;
  }
};

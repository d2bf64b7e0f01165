#pragma once
// Tiles handed out by the hardware, sm_100 and newer: the grid has a block for each tile, and a block that is done
// takes over one that has not begun. Blocks of other kernels start in between, as if no block were persistent.
#include "device/ptx/clusterlaunchcontrol.cuh"
#include "device/ptx/fence.cuh"

// In shared memory; no clusters, one dimension.
struct CancelSchedule {
  launch_control::Response response;
  Barrier full;

  // By one thread, before a barrier of the block.
  __device__ void init() {
    full.init(1);
    fence_barrier_init();
  }
  // The next tile's index, or -1: by all threads of the block together, until it is -1. `parity` is 0 at first and is
  // turned by each call. The fence orders everybody's reads of the answer before the next answer is written.
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

//! kernel  mbarrier  "D = S handed round among a block's threads, a barrier's phase at each step"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     STEPS  = 9
//! param   ARRIVE = 0  in 0..5    "0 arrive, 1 with a count, 2 arrive_drop, 3 expect_tx, 4 expect, 5 inval"
//! param   WAIT   = 0  in {0, 1, 2}  "0 wait, 1 test_wait, 2 try_wait"
//!
//! tensor  S : s32[STEPS, 128]
//! tensor  D : s32[STEPS, 128]  out
//! launch  grid 1  block 128
//! work    flops 0  bytes 8 * STEPS * 128
//! reference mbarrier_reference  grid STEPS  block 128
//!
//! preset  ARRIVE = 0            "mbarrier: arrive and wait"
//! preset  ARRIVE = 1, WAIT = 1  "mbarrier: arrive with a count, test_wait"
//! preset  ARRIVE = 2, WAIT = 2  "mbarrier: arrive_drop, try_wait"
//! preset  ARRIVE = 3            "mbarrier: expect_tx and complete_tx"
//! preset  ARRIVE = 4            "mbarrier: arrive.expect_tx"
//! preset  ARRIVE = 5            "mbarrier: inval"

#include "device/ptx/mbarrier.cuh"
#include "device/ptx/named_barrier.cuh"

// Returns the threads that take part in a step: if half of them drop out at the first, the others do their work.
__device__ inline int threads_in(int step) {
  return ARRIVE == 2 && step > 0 ? 64 : 128;
}

#ifndef TMA_JIT_REFERENCE

// A phase needs 128 arrivals, or 64 once half of the threads have dropped out. Copied bytes are announced by thread 0
// before its own arrival and arrive after thread 64's arrival, so that no phase can complete without them.
__device__ inline void arrive(Barrier& barrier, int step) {
  const int t = threadIdx.x;
  if constexpr (ARRIVE == 1) {
    __syncwarp();
    if (t % 32 == 0) barrier.arrive(32);
  } else if constexpr (ARRIVE == 2) {
    if (step == 0 && t >= 64)
      barrier.arrive_drop();
    else
      barrier.arrive();
  } else if constexpr (ARRIVE == 3) {
    if (t == 0) barrier.expect_tx(4096);
    barrier.arrive();
    if (t == 64) barrier.complete_tx(4096);
  } else if constexpr (ARRIVE == 4) {
    if (t == 0)
      barrier.expect(1 << 18);
    else
      barrier.arrive();
    if (t == 64) barrier.complete_tx(1 << 18);
  } else {
    barrier.arrive();
  }
}

__device__ inline void wait(Barrier& barrier, u32 parity) {
  if constexpr (WAIT == 0) barrier.wait(parity);
  if constexpr (WAIT == 1)
    while (!barrier.test_wait(parity)) {
    }
  if constexpr (WAIT == 2)
    while (!barrier.try_wait(parity)) {
    }
}

extern "C" __global__ __launch_bounds__(128) void mbarrier(View<const s32, 2> S, View<s32, 2> D, const Dims) {
  __shared__ s32 row[128];
  __shared__ Barrier barrier;
  const int t = threadIdx.x;
  if (t == 0) barrier.init(128);  // without a fence, because neither the copy engine nor another block uses it
  __syncthreads();
#pragma unroll 1
  for (int step = 0; step < Dims::STEPS; ++step) {
    const int threads = threads_in(step);
    if (t >= threads) return;
    for (int i = t; i < 128; i += threads) row[i] = S.data[step * S.stride[0] + i * S.stride[1]];
    arrive(barrier, step);
    wait(barrier, ARRIVE == 5 ? 0 : step % 2);
    for (int i = t; i < 128; i += threads) D.data[step * D.stride[0] + i * D.stride[1]] = row[(i + 32) % 128];
    sync(1, threads);  // no thread reads the row or waits any more
    if constexpr (ARRIVE == 5) {
      if (t == 0) {
        barrier.inval();
        barrier.init(128);
      }
      sync(1, threads);
    }
  }
}

#else

extern "C" __global__ void mbarrier_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int step = blockIdx.x, i = threadIdx.x;
  D.data[step * D.stride[0] + i * D.stride[1]] = S.data[step * S.stride[0] + (i + 32) % 128 * S.stride[1]];
}

#endif

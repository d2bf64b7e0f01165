//! kernel  named_barrier  "D = S handed round among some of a block's warps, a named barrier at each step"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     STEPS   = 24
//! param   THREADS = 96  in {64, 96, 128}           "of 160 that meet; the others stay away"
//! param   ID      = 1   in {1, 7, 15}
//! tensor  S : s32[STEPS, THREADS]
//! tensor  D : s32[STEPS, THREADS]  out
//! launch  grid 1  block 160
//! work    flops 0  bytes 8 * STEPS * THREADS
//! preset  THREADS = 96, ID = 1   "named barrier: some of a block's warps"
//! preset  THREADS = 64, ID = 15  "named barrier: the last of the sixteen"
//! reference named_barrier_reference  grid STEPS  block THREADS

#include "device/ptx/named_barrier.cuh"

// D[step][t] = S[step][t + 32]: each thread reads what the next warp wrote.
#ifndef TMA_JIT_REFERENCE

extern "C" __global__ void named_barrier(View<const s32, 2> S, View<s32, 2> D, const Dims) {
  __shared__ s32 row[THREADS];
  const int t = threadIdx.x;
  if (t >= THREADS) return;
#pragma unroll 1
  for (int step = 0; step < Dims::STEPS; ++step) {
    row[t] = S.data[step * S.stride[0] + t * S.stride[1]];
    sync(ID, THREADS);
    D.data[step * D.stride[0] + t * D.stride[1]] = row[(t + 32) % THREADS];
    sync(ID, THREADS);
  }
}

#else

extern "C" __global__ void named_barrier_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int step = blockIdx.x, t = threadIdx.x;
  D.data[step * D.stride[0] + t * D.stride[1]] = S.data[step * S.stride[0] + (t + 32) % THREADS * S.stride[1]];
}

#endif

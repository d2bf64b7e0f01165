//! kernel  setmaxnreg  "D = sums that need more registers than the block was launched with, after one warpgroup gave some to another"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     THREADS = 128
//! param   GIVEN   = 24   in {24, 40, 104}          "registers that a thread of the giving warpgroup keeps"
//! param   TAKEN   = 232  in {152, 208, 232}        "registers that a thread of the taking one has"
//! param   VALUES  = 128  in {64, 96, 128}          "held at once by a thread of the taking warpgroup"
//! require GIVEN + TAKEN <= 256                     "256 threads of 128 registers were launched"
//! require VALUES + 40 <= TAKEN                     "the values must fit"
//! tensor  S : s32[VALUES, THREADS]
//! tensor  D : s32[VALUES, THREADS]  out
//! launch  grid 1  block 256
//! work    flops 4 * VALUES * THREADS  bytes 8 * VALUES * THREADS
//! preset  GIVEN = 24, TAKEN = 232, VALUES = 128   "setmaxnreg: 24 and 232 of 128 each"
//! preset  GIVEN = 104, TAKEN = 152, VALUES = 96   "setmaxnreg: 104 and 152 of 128 each"
//! reference setmaxnreg_reference  grid 1  block THREADS

#include "device/ptx/setmaxnreg.cuh"

#ifndef TMA_JIT_REFERENCE

// Every round of sums uses every value, so that all of them must be in registers at once.
extern "C" __global__ __launch_bounds__(256, 1) void setmaxnreg(View<const s32, 2> S, View<s32, 2> D, const Dims) {
  const int thread = threadIdx.x % kWarpgroup;
  if (threadIdx.x < kWarpgroup) {
    give_registers<GIVEN>();
    return;
  }
  take_registers<TAKEN>();
  s32 x[VALUES];
#pragma unroll
  for (int i = 0; i < VALUES; ++i) x[i] = S.data[i * S.stride[0] + thread * S.stride[1]];
#pragma unroll 1
  for (int round = 0; round < 4; ++round)
#pragma unroll
    for (int i = 0; i < VALUES; ++i) x[i] += x[(i + 1) % VALUES];
#pragma unroll
  for (int i = 0; i < VALUES; ++i) D.data[i * D.stride[0] + thread * D.stride[1]] = x[i];
}

#else

extern "C" __global__ void setmaxnreg_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int t = threadIdx.x;
  for (int i = 0; i < VALUES; ++i)
    D.data[i * D.stride[0] + t * D.stride[1]] = S.data[i * S.stride[0] + t * S.stride[1]];
  for (int round = 0; round < 4; ++round)
    for (int i = 0; i < VALUES; ++i)
      D.data[i * D.stride[0] + t * D.stride[1]] += D.data[(i + 1) % VALUES * D.stride[0] + t * D.stride[1]];
}

#endif

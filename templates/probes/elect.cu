//! kernel  elect    "D[warp] = lanes elected of those asked, 100 for each that was not asked"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     WARPS  = 8
//! param   FIRST  = 0  in {0, 5, 31}                "the least lane that takes part"
//! tensor  D : s32[WARPS]  out
//! launch  grid 1  block 32 * WARPS
//! work    flops 0  bytes 4 * WARPS
//! preset  FIRST = 0   "elect: one lane of a warp"
//! preset  FIRST = 5   "elect: one lane of some of a warp's lanes"
//! reference elect_reference  grid 1  block WARPS

#include "device/ptx/elect.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ void elect(View<s32, 1> D, const Dims) {
  const int lane = threadIdx.x % 32;
  const bool elected = lane >= FIRST && ::elect(0xffffffffU << FIRST);
  const u32 winners = __ballot_sync(0xffffffff, elected);
  const u32 strangers = winners & ~(0xffffffffU << FIRST);
  if (lane == 0) D.data[threadIdx.x / 32 * D.stride[0]] = __popc(winners) + 100 * __popc(strangers);
}

#else

extern "C" __global__ void elect_reference(View<f64, 1> D, const Dims) {
  D.data[threadIdx.x * D.stride[0]] = 1;
}

#endif

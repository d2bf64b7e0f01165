//! kernel  clusterlaunchcontrol  "D[block] = 1 where exactly one running block made its tile; D's last counts all tiles"
//! arch    sm_100a, sm_103a, sm_120a, sm_121a
//! dim     BLOCKS = 600
//! tensor  D : s32[BLOCKS + 1]  out
//! workspace counters 4 zero                         "tiles made"
//! launch  grid BLOCKS  block 64
//! work    flops 0  bytes 4 * BLOCKS
//! reference clusterlaunchcontrol_reference  grid 1  block 256

#include "device/schedule/launch_control.cuh"

#ifndef TMA_JIT_REFERENCE

// Each block processes its own tile, then those of blocks whose launch it has cancelled. The block with the last tile
// of all stores the sum and resets the counters to zero.
extern "C" __global__ void clusterlaunchcontrol(View<s32, 1> D, u8* counters, const Dims dims) {
  __shared__ CancelSchedule schedule;
  u32* const made = reinterpret_cast<u32*>(counters);
  if (threadIdx.x == 0) schedule.init();
  __syncthreads();
  u32 parity = 0;
  for (int tile = blockIdx.x; tile >= 0; tile = schedule.next(parity)) {
    if (threadIdx.x != 0) continue;
    D.data[tile * D.stride[0]] = 1;
    if (atomicAdd(made, 1) + 1 != dims.BLOCKS) continue;
    D.data[dims.BLOCKS * D.stride[0]] = atomicExch(made, 0);
  }
}

#else

extern "C" __global__ void clusterlaunchcontrol_reference(View<f64, 1> D, const Dims dims) {
  for (int i = threadIdx.x; i <= dims.BLOCKS; i += blockDim.x)
    D.data[i * D.stride[0]] = i < dims.BLOCKS ? 1 : dims.BLOCKS;
}

#endif

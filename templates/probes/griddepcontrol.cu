//! kernel  griddepcontrol  "D = S + 1, begun while the kernel before is still at work"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N = 4096
//! tensor  S : s32[N]
//! tensor  D : s32[N]  out
//! launch  grid N / 128  block 128  pdl
//! work    flops 0  bytes 8 * N
//! reference griddepcontrol_reference  grid N / 256  block 256

#include "device/ptx/griddepcontrol.cuh"
#include "device/types.cuh"

#ifndef TMA_JIT_REFERENCE

// The next kernel may start before this one has read or written anything; only its own wait orders them.
extern "C" __global__ __launch_bounds__(128) void griddepcontrol(View<const s32, 1> S, View<s32, 1> D, const Dims) {
  grid::launch_dependents();
  grid::wait();
  __nanosleep(2000);
  const int i = blockIdx.x * 128 + threadIdx.x;
  D.data[i * D.stride[0]] = S.data[i * S.stride[0]] + 1;
}

#else

extern "C" __global__ void griddepcontrol_reference(View<const s32, 1> S, View<f64, 1> D, const Dims) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  D.data[i * D.stride[0]] = S.data[i * S.stride[0]] + 1;
}

#endif

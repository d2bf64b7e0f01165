//! kernel  tensormap_release  "D = a box of S through its tensor map in global memory, written there by ordinary stores"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     R     = 24
//! dim     X     = 32
//! param   ROW   = 4  in {0, 4, 20}                 "where the box begins"
//! tensor  S : s32[R, X]  box [8, 32]
//! tensor  D : s32[8, X]  out
//! workspace map 128
//! launch  grid 1  block 64
//! work    flops 0  bytes 8 * 8 * X
//! reference tensormap_release_reference  grid 8  block X
//! preset  ROW = 4  "tensor map in global memory: release and acquire"

#include "device/ptx/cvt.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/tma.cuh"

#ifndef TMA_JIT_REFERENCE

// The first warp writes the map and releases it; a thread of the second warp acquires and uses it.
extern "C" __global__ __launch_bounds__(64) void tensormap_release(const __grid_constant__ CUtensorMap S,
                                                                   View<s32, 2> D, u8* map, const Dims) {
  __shared__ alignas(128) s32 box[8][Dims::X];
  __shared__ Barrier full;
  CUtensorMap* const written = reinterpret_cast<CUtensorMap*>(map);
  if (threadIdx.x < 16) {
    written->opaque[threadIdx.x] = S.opaque[threadIdx.x];
    fence::proxy_tensormap_release();
  }
  if (threadIdx.x == 32) {
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(box));
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    fence::proxy_tensormap_acquire(written);
    tma::load(box, *written, full, {0, ROW});
  }
  full.wait(0);
  for (int r = threadIdx.x / 32; r < 8; r += 2)
    D.data[r * D.stride[0] + threadIdx.x % 32 * D.stride[1]] = box[r][threadIdx.x % 32];
}

#else

extern "C" __global__ void tensormap_release_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int row = ROW + blockIdx.x, column = threadIdx.x;
  D.data[blockIdx.x * D.stride[0] + column * D.stride[1]] =
      row < Dims::R ? to_f64(S.data[row * S.stride[0] + column * S.stride[1]]) : 0;
}

#endif

//! kernel  tma_prefetch  "D = a box of S, prefetched into L2 and then loaded"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     A    = 3
//! dim     B    = 4
//! dim     C    = 5
//! dim     R    = 20
//! dim     X    = 48
//!
//! param   RANK = 2  in 1..5
//! param   HINT = 0  in {0, 1}                      "1: with an L2 policy"
//!
//! let     B1   = RANK >= 2 ? 8 : 1
//! let     B2   = RANK >= 3 ? 3 : 1
//! let     B3   = RANK >= 4 ? 2 : 1
//! let     B4   = RANK >= 5 ? 2 : 1
//! let     BOX  = 16 * B1 * B2 * B3 * B4
//!
//! tensor  S1 : s32[X]              box [16]                  when RANK == 1
//! tensor  S2 : s32[R, X]           box [B1, 16]              when RANK == 2
//! tensor  S3 : s32[C, R, X]        box [B2, B1, 16]          when RANK == 3
//! tensor  S4 : s32[B, C, R, X]     box [B3, B2, B1, 16]      when RANK == 4
//! tensor  S5 : s32[A, B, C, R, X]  box [B4, B3, B2, B1, 16]  when RANK == 5
//! tensor  D  : s32[BOX]  out
//!
//! launch  grid 1  block 128
//! work    flops 0  bytes 8 * BOX
//! reference tma_prefetch_reference  grid 1  block 256
//!
//! preset  RANK = 2                  "tensor prefetch: 2 dimensions"
//! preset  RANK = 1                  "tensor prefetch: 1 dimension"
//! preset  RANK = 3                  "tensor prefetch: 3 dimensions"
//! preset  RANK = 4                  "tensor prefetch: 4 dimensions"
//! preset  RANK = 5                  "tensor prefetch: 5 dimensions"
//! preset  RANK = 2, HINT = 1        "tensor prefetch: with an L2 policy"

#include "device/probe/box.cuh"
#include "device/ptx/tma_prefetch.cuh"

__device__ constexpr probe::Position<5> kCorner = {{32, 12, 2, 1, 1}};

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_prefetch(const __grid_constant__ CUtensorMap S1,
                                                               const __grid_constant__ CUtensorMap S2,
                                                               const __grid_constant__ CUtensorMap S3,
                                                               const __grid_constant__ CUtensorMap S4,
                                                               const __grid_constant__ CUtensorMap S5, View<s32, 1> D,
                                                               const Dims) {
  __shared__ alignas(128) s32 box[BOX];
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    int at[RANK];
#pragma unroll
    for (int i = 0; i < RANK; ++i) at[i] = kCorner.at[i];
    const CUtensorMap& map = probe::pick<RANK - 1>(S1, S2, S3, S4, S5);
    if constexpr (HINT == 1)
      tma::prefetch(map, at, l2::kEvictLast);
    else
      tma::prefetch(map, at);
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(box));
    tma::load(box, map, full, at);
  }
  __syncthreads();
  full.wait(0);
  for (int i = threadIdx.x; i < BOX; i += 128) D.data[i * D.stride[0]] = box[i];
}

#else

extern "C" __global__ void tma_prefetch_reference(View<const s32, 1> S1, View<const s32, 2> S2, View<const s32, 3> S3,
                                                  View<const s32, 4> S4, View<const s32, 5> S5, View<f64, 1> D,
                                                  const Dims) {
  const auto& S = probe::pick<RANK - 1>(S1, S2, S3, S4, S5);
  const int box[5] = {16, B1, B2, B3, B4};
  probe::Position<RANK> corner;
  for (int i = 0; i < RANK; ++i) corner.at[i] = kCorner.at[i];
  for (int i = threadIdx.x; i < BOX; i += blockDim.x) {
    const auto p = probe::sum(probe::position<RANK>(i, box), corner);
    D.data[i * D.stride[0]] = to_f64(probe::element(S, p));
  }
}

#endif

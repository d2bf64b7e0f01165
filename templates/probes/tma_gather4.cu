//! kernel  tma_gather4  "D[i] = S[row[i]], four rows in one copy"
//! arch    sm_100a, sm_103a, sm_120a, sm_121a
//! dim     R = 40
//! dim     X = 96
//! param   COLUMN = 0  in {0, 32, 64}               "where the rows' 32 elements begin"
//! param   HINT   = 0  in {0, 1}                    "1: with an L2 policy"
//! tensor  S : s32[R, X]  box [1, 32]
//! tensor  D : s32[8, 32]  out
//! launch  grid 1  block 128
//! work    flops 0  bytes 2 * 8 * 32 * 4
//! reference tma_gather4_reference  grid 8  block 32
//! preset  COLUMN = 0            "tensor gather: four rows"
//! preset  COLUMN = 32, HINT = 1  "tensor gather: with an L2 policy"

#include "device/ptx/tma_gather.cuh"

__device__ constexpr int kRows[8] = {39, 0, 17, 17, 3, 38, 1, 20};

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_gather4(const __grid_constant__ CUtensorMap S, View<s32, 2> D,
                                                              const Dims) {
  __shared__ alignas(128) s32 rows[8][32];
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(rows));
    tma::load_gather4(rows[0], S, full, COLUMN, {kRows[0], kRows[1], kRows[2], kRows[3]});
    if constexpr (HINT == 1)
      tma::load_gather4(rows[4], S, full, COLUMN, {kRows[4], kRows[5], kRows[6], kRows[7]}, l2::kEvictFirst);
    else
      tma::load_gather4(rows[4], S, full, COLUMN, {kRows[4], kRows[5], kRows[6], kRows[7]});
  }
  __syncthreads();
  full.wait(0);
  for (int i = threadIdx.x; i < 256; i += 128)
    D.data[i / 32 * D.stride[0] + i % 32 * D.stride[1]] = rows[i / 32][i % 32];
}

#else

extern "C" __global__ void tma_gather4_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int i = blockIdx.x, c = threadIdx.x;
  D.data[i * D.stride[0] + c * D.stride[1]] = S.data[kRows[i] * S.stride[0] + (COLUMN + c) * S.stride[1]];
}

#endif

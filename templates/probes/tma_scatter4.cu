//! kernel  tma_scatter4  "D[row[i]] = S[i], four rows in one copy; the others of D = 0. S comes by a prefetched gather"
//! arch    sm_100a, sm_103a
//! dim     R = 24
//! dim     X = 32
//! param   CLUSTER = 1  in {1, 2}                   "2: each block's rows come by the other's multicast"
//! param   HINT    = 0  in {0, 1}                   "1: with an L2 policy"
//! tensor  S : s32[8, X]  box [1, 32]
//! tensor  D : s32[R, X]  box [1, 32]  out  view
//! cluster CLUSTER
//! launch  grid 2  block 128
//! work    flops 0  bytes 4 * (8 + R) * X
//! reference tma_scatter4_reference  grid R  block 32
//! preset  CLUSTER = 1  "tensor scatter: four rows"
//! preset  CLUSTER = 1, HINT = 1  "tensor scatter: with an L2 policy"
//! preset  CLUSTER = 2  "tensor gather: multicast"

#include "device/ptx/cluster.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/tma_gather.cuh"

__device__ constexpr int kRows[8] = {23, 0, 7, 11, 3, 22, 1, 20};

#ifndef TMA_JIT_REFERENCE

// Block b moves rows 4 b to 4 b + 3; before that it clears the rows of D whose number is b modulo 2.
extern "C" __global__ __launch_bounds__(128) void tma_scatter4(const __grid_constant__ CUtensorMap S,
                                                               const __grid_constant__ Mapped<s32, 2> D, const Dims) {
  __shared__ alignas(128) s32 rows[4][32];
  __shared__ Barrier full;
  const int block = blockIdx.x;
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(rows));
  }
  if constexpr (CLUSTER == 2)
    cluster::sync();
  else
    __syncthreads();
  if (threadIdx.x == 0) {
    const int first = 4 * (CLUSTER == 2 ? block ^ 1 : block);
    const int from[4] = {first, first + 1, first + 2, first + 3};
    tma::prefetch_gather4(S, 0, from);
    if constexpr (CLUSTER == 2)
      tma::load_gather4_multicast(rows, S, full, 1 << (block ^ 1), 0, from);
    else
      tma::load_gather4(rows, S, full, 0, from);
  }
  // Rows that this block does not write by its scatter.
  for (int row = threadIdx.x / 32; row < Dims::R; row += 4) {
    bool taken = false;
    for (const int r : kRows) taken = taken || r == row;
    if (!taken && row % 2 == block) D.view.data[row * D.view.stride[0] + threadIdx.x % 32 * D.view.stride[1]] = 0;
  }
  full.wait(0);
  if (threadIdx.x == 0) {
    const int* to = kRows + 4 * block;
    if constexpr (HINT == 1)
      tma::store_scatter4(D.map, rows, 0, {to[0], to[1], to[2], to[3]}, l2::kEvictLast);
    else
      tma::store_scatter4(D.map, rows, 0, {to[0], to[1], to[2], to[3]});
    tma::commit();
    tma::wait_read<0>();
  }
  __syncwarp();
  if constexpr (CLUSTER == 2) cluster::sync();
}

#else

extern "C" __global__ void tma_scatter4_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int row = blockIdx.x, c = threadIdx.x;
  f64 value = 0;
  for (int i = 0; i < 8; ++i)
    if (kRows[i] == row) value = S.data[i * S.stride[0] + c * S.stride[1]];
  D.data[row * D.stride[0] + c * D.stride[1]] = value;
}

#endif

#pragma once
// One value of each block of a cluster combined into one that all have, in the order of the blocks.
#include "device/ptx/cluster.cuh"

// By all threads of Blocks blocks, of which each block's have the same x. Every block has begun before the first call,
// and `partial`, in shared memory, is used once. After the call no block reaches into another's memory on its behalf.
template <int Blocks, class F> __device__ inline f32 cluster_reduce(f32 x, f32 (&partial)[Blocks], F f) {
  if constexpr (Blocks > 1) {
    if (threadIdx.x < Blocks) *cluster::map(&partial[cluster::rank()], threadIdx.x) = x;
    cluster::sync();
    x = partial[0];
#pragma unroll
    for (int i = 1; i < Blocks; ++i) x = f(x, partial[i]);
  }
  return x;
}

#pragma once
// Combines one value per block of a cluster into one that all blocks get, in the order of the blocks.
#include "device/ptx/cluster.cuh"

// Called by all threads of Blocks blocks; all threads of a block pass the same x. Every block must have begun before
// the first call, and `partial`, in shared memory, may be used only once. After the call no block accesses another's
// memory for it.
template <int Blocks, class X, class F> __device__ inline X cluster_reduce(X x, X (&partial)[Blocks], F f) {
  if constexpr (Blocks > 1) {
    if (threadIdx.x < Blocks) *cluster::map(&partial[cluster::rank()], threadIdx.x) = x;
    cluster::sync();
    x = partial[0];
#pragma unroll
    for (int i = 1; i < Blocks; ++i) x = f(x, partial[i]);
  }
  return x;
}

#pragma once
// Combines one value per thread of a block into one that all threads get, always in the same order.
#include "device/reduce/warp.cuh"

// Called by all Threads threads of the block. `partial`, in shared memory, may be reused after another barrier of the
// block. `neutral` is the neutral element of f: f(x, neutral) is x.
template <int Threads, class X, class F>
__device__ inline X block_reduce(X x, X (&partial)[Threads / 32], X neutral, F f) {
  static_assert(Threads % 32 == 0 && Threads <= 1024);
  x = warp_reduce(x, f);
  if constexpr (Threads > 32) {
    const int lane = threadIdx.x % 32;
    if (lane == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    constexpr int kWarps = Threads / 32;
    if constexpr ((kWarps & (kWarps - 1)) == 0) return warp_reduce<kWarps>(partial[lane % kWarps], f);
    x = warp_reduce(lane < kWarps ? partial[lane] : neutral, f);
  }
  return x;
}

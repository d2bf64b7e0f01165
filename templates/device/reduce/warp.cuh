#pragma once
// Combines one value per lane into one that all get, over a warp or over neighbouring lanes of it. `f` must be
// commutative, so that all lanes get the same bits.
#include "device/types.cuh"

// Over Width lanes, a power of two. Called by all lanes of the warp.
template <int Width = 32, class X, class F> __device__ inline X warp_reduce(X x, F f) {
#pragma unroll
  for (int distance = Width / 2; distance > 0; distance /= 2) x = f(x, __shfl_xor_sync(0xffffffff, x, distance));
  return x;
}

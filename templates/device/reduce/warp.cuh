#pragma once
// Combines one value per lane of a warp into one that all lanes get. `f` must be commutative, so that all lanes get the
// same bits.
#include "device/types.cuh"

template <class X, class F> __device__ inline X warp_reduce(X x, F f) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x = f(x, __shfl_xor_sync(0xffffffff, x, distance));
  return x;
}

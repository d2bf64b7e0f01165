#pragma once
// One value of each lane of a warp combined into one that all lanes have. `f` is commutative, so all lanes get the same
// bits.
#include "device/types.cuh"

template <class X, class F> __device__ inline X warp_reduce(X x, F f) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x = f(x, __shfl_xor_sync(0xffffffff, x, distance));
  return x;
}

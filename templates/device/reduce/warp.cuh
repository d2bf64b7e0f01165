#pragma once
// Combines one value per lane of a warp into one that all lanes get. `f` must be commutative, so that all lanes get the
// same bits.
#include "device/types.cuh"

// Lanes, a power of two of at most 32, adjacent lanes combine their values; all lanes of the warp call.
template <int Lanes = 32, class X, class F> __device__ inline X warp_reduce(X x, F f) {
  static_assert(Lanes <= 32 && (Lanes & (Lanes - 1)) == 0);
#pragma unroll
  for (int distance = Lanes / 2; distance > 0; distance /= 2) x = f(x, __shfl_xor_sync(0xffffffff, x, distance));
  return x;
}

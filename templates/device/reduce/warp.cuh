#pragma once
// Combines one value per lane into one that all get, over a warp or over neighbouring lanes of it. `f` must be
// commutative, so that all lanes get the same bits.
#include "device/types.cuh"

// Several values that are combined together.
template <int Count> struct Sums {
  f32 x[Count];
  __device__ Sums operator+(const Sums& other) const {
    Sums sum;
#pragma unroll
    for (int i = 0; i < Count; ++i) sum.x[i] = x[i] + other.x[i];
    return sum;
  }
};

// The value of the lane whose number differs in the bits of `distance`.
template <class X> __device__ inline X shuffle_xor(X x, int distance) {
  return __shfl_xor_sync(0xffffffff, x, distance);
}
template <int Count> __device__ inline Sums<Count> shuffle_xor(Sums<Count> sums, int distance) {
#pragma unroll
  for (f32& x : sums.x) x = shuffle_xor(x, distance);
  return sums;
}

// Over Width lanes, a power of two. Called by all lanes of the warp.
template <int Width = 32, class X, class F> __device__ inline X warp_reduce(X x, F f) {
#pragma unroll
  for (int distance = Width / 2; distance > 0; distance /= 2) x = f(x, shuffle_xor(x, distance));
  return x;
}

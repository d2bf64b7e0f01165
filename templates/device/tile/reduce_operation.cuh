#pragma once
// What the files of `reduce` combine elements with, in f32, or in f64 in a reference.
#include "device/ptx/infinity.cuh"
#include "device/ptx/max_nan.cuh"

// Op is the template's OP: 0 sum, 1 mean, 2 maximum, 3 minimum, 4 sum of squares, 5 the hook `combine`.
template <int Op, class X, class H> struct Operation {
  const H& hooks;
  X given;    // the neutral element of `combine`
  s64 count;  // elements that are combined

  __device__ X neutral() const {
    if constexpr (Op == 2) return -infinity();
    if constexpr (Op == 3) return infinity();
    return Op == 5 ? given : X{0};
  }
  // What X[m,k,n] contributes.
  __device__ X element(X x, s64 m, s64 k, s64 n) const {
    x = hooks.input(x, m, k, n);
    return Op == 4 ? x * x : x;
  }
  __device__ X combine(X a, X b) const {
    if constexpr (Op == 2) return max_nan(a, b);
    if constexpr (Op == 3) return min_nan(a, b);
    if constexpr (Op == 5) return hooks.combine(a, b);
    return a + b;
  }
  // Y[m,n] of what its elements contributed together.
  __device__ X result(X x, s64 m, s64 n) const { return hooks.output(Op == 1 ? x / static_cast<X>(count) : x, m, n); }
};

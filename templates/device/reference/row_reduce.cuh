#pragma once
// Reductions of references in float64, the same at every run. All are called by all threads of a block of 256, which
// all get the same value; `f` is called for j in 0..count - 1.
#include "device/types.cuh"

template <class F, class Combine> __device__ inline f64 row_reduce(s64 count, f64 neutral, F f, Combine combine) {
  __shared__ f64 partial[256];
  f64 mine = neutral;
  for (s64 j = threadIdx.x; j < count; j += 256) mine = combine(mine, f(j));
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + half]);
    __syncthreads();
  }
  const f64 all = partial[0];
  __syncthreads();
  return all;
}

// The sum of f(j).
template <class F> __device__ inline f64 row_sum(s64 count, F f) {
  return row_reduce(count, 0.0, f, [](f64 a, f64 b) { return a + b; });
}

// The greatest f(j), none of which are negative; 0 if there are none.
template <class F> __device__ inline f64 row_max(s64 count, F f) {
  return row_reduce(count, 0.0, f, [](f64 a, f64 b) { return fmax(a, b); });
}

// The logarithm of the sum of exp(f(j)); minus infinity if there are none.
template <class F> __device__ inline f64 row_log_sum_exp(s64 count, F f) {
  const f64 none = __longlong_as_double(0xfff0000000000000LL);
  const f64 most = row_reduce(count, none, f, [](f64 a, f64 b) { return fmax(a, b); });
  return most + log(row_sum(count, [&](s64 j) { return exp(f(j) - most); }));
}

#pragma once
// Sums of references in float64, the same at every run.
#include "device/types.cuh"

// The sum of f(j) for j in 0..count - 1. Called by all threads of a block of 256, all of which get the same value.
template <class F> __device__ inline f64 row_sum(s64 count, F f) {
  __shared__ f64 partial[256];
  f64 sum = partial[threadIdx.x] = 0;
  for (s64 j = threadIdx.x; j < count; j += 256) partial[threadIdx.x] += f(j);
  __syncthreads();
  for (const f64 part : partial) sum += part;
  __syncthreads();
  return sum;
}

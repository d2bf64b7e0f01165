#pragma once
// What the references of attention's backward pass share: the derivative of a score, independent of the one that the
// request gives, and sums of weighted rows. T, HD and Hooks are the template's.
#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/tile/dual.cuh"

#ifdef TMA_JIT_REFERENCE

// Returns the derivative of the hook score by the scaled product s: that of its text, or where the text cannot be
// differentiated a central difference, whose error is about 1e-6 for hooks in f64 and 1e-4 where they call functions of
// f32.
template <class H>
__device__ inline auto slope_of(const H& hooks, f64 s, s32 q, s32 k, s32 head, int)
    -> decltype(Dual<f64>(hooks.score_of(Dual<f64>(s, 1), q, k, head)).slope) {
  return Dual<f64>(hooks.score_of(Dual<f64>(s, 1), q, k, head)).slope;
}
template <class H> __device__ inline f64 slope_of(const H& hooks, f64 s, s32 q, s32 k, s32 head, long) {
  const f64 step = fmax(1.0, fabs(s)) / 1024;
  return (hooks.score(s + step, q, k, head) - hooks.score(s - step, q, k, head)) / (2 * step);
}
template <class H> __device__ inline f64 score_slope(const H& hooks, f64 s, s32 q, s32 k, s32 head) {
  if constexpr (!H::score_given)
    return 1;
  else
    return slope_of(hooks, s, q, k, head, 0);
}

template <class E> __device__ inline E& element(const View<E, 3>& of, s64 head, s64 row, s64 d) {
  return of.data[head * of.stride[0] + row * of.stride[1] + d * of.stride[2]];
}

// Returns, in the thread of each of `size` elements d, the sum of weigh(i) * row(i, d) for i in 0..count - 1. Called by
// all of a block's 256 threads.
template <class Weigh, class Row> __device__ inline f64 weighted_sum(s64 count, int size, Weigh weigh, Row row) {
  __shared__ f64 weight[256];
  f64 sum = 0;
  for (s64 first = 0; first < count; first += 256) {
    weight[threadIdx.x] = first + threadIdx.x < count ? weigh(first + threadIdx.x) : 0;
    __syncthreads();
    for (int j = 0; j < 256 && first + j < count && static_cast<int>(threadIdx.x) < size; ++j)
      if (weight[j] != 0) sum += weight[j] * row(first + j, threadIdx.x);
    __syncthreads();
  }
  return sum;
}

#endif

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

// A weight of a score, and the gradient of the scaled product that the score is made of.
struct WeightAndGradient {
  f64 weight, gradient;
};

// Calls add(weighed(i), i) in all threads for i in 0..count - 1, where weighed returns a WeightAndGradient that is not
// 0. Called by all of a block's 256 threads.
template <class Weighed, class Add> __device__ inline void each_weighed(s64 count, Weighed weighed, Add add) {
  __shared__ WeightAndGradient x[256];
  for (s64 first = 0; first < count; first += 256) {
    x[threadIdx.x] = first + threadIdx.x < count ? weighed(first + threadIdx.x) : WeightAndGradient{0, 0};
    __syncthreads();
    for (int j = 0; j < 256 && first + j < count; ++j)
      if (x[j].weight != 0) add(x[j], first + j);
    __syncthreads();
  }
}

#endif

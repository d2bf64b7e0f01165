#pragma once
// What the references of attention's backward pass share: the gradients of one sequence's heads, with a derivative of
// the score that is independent of the one that the request gives, and the logarithms of sums that the forward pass
// gives. T, CAUSAL, SCALED, HD, HV and Hooks are the template's.
#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reference/row_reduce.cuh"
#include "device/tile/dual.cuh"
#include "device/tile/head_numbers.cuh"

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

// Calls add(weighed(i), i) in threads 0..HD - 1 for i in 0..count - 1, where weighed returns a WeightAndGradient that
// is not 0. Called by all of a block's 256 threads.
template <class Weighed, class Add> __device__ inline void each_weighed(s64 count, Weighed weighed, Add add) {
  __shared__ WeightAndGradient x[256];
  for (s64 first = 0; first < count; first += 256) {
    x[threadIdx.x] = first + threadIdx.x < count ? weighed(first + threadIdx.x) : WeightAndGradient{0, 0};
    __syncthreads();
    for (int j = 0; threadIdx.x < HD && j < 256 && first + j < count; ++j)
      if (x[j].weight != 0) add(x[j], first + j);
    __syncthreads();
  }
}

// A sequence: tensors are [head, row, element], L and DELTA [head, row].
template <class R> struct GradientReference {
  View<const T, 3> Q, K, V;
  View<const R, 3> DO;
  View<const f32, 2> L, DELTA;
  View<f64, 3> DQ, DK, DV;
  HeadNumbers numbers;
  f32 scale;
  const Hooks& hooks;
  s64 heads, kv_heads, queries, keys;
  s64 heads_before;  // of other sequences, as hooks count them

  // Makes all rows of the gradients, a block of 256 threads one at a time: those of the queries, then those of the keys
  // and values.
  __device__ void make() const {
    for (s64 r = blockIdx.x; r < heads * queries; r += gridDim.x) make_query(r / queries, r % queries);
    for (s64 r = blockIdx.x; r < kv_heads * keys; r += gridDim.x) make_key(r / keys, r % keys);
  }

  // Makes the logarithms of sums that the forward pass of Q and K gives, a block of 256 threads one query at a time. L
  // is not read. DELTA may be any numbers: those of the forward pass would make gradients zero where a query sees one
  // key, and what is compared then would be rounding errors.
  __device__ void make_log_sums(const View<f32, 2>& log_sums) const {
    for (s64 r = blockIdx.x; r < heads * queries; r += gridDim.x) {
      const s64 head = r / queries, i = r % queries;
      const f64 sum = row_sum(keys, [&](s64 j) {
        return sees(head, i, j) ? exp(hooks.score(product(head, i, j), position(i), j, heads_before + head)) : 0;
      });
      if (threadIdx.x == 0) log_sums.data[head * log_sums.stride[0] + i * log_sums.stride[1]] = log(sum);
    }
  }

 private:
  template <class A>
  __device__ static f64 dot(const View<const A, 3>& a, s64 a_head, s64 i, const View<const T, 3>& b, s64 b_head, s64 j,
                            int size) {
    f64 sum = 0;
    for (int d = 0; d < size; ++d) sum += to_f64(element(a, a_head, i, d)) * to_f64(element(b, b_head, j, d));
    return sum;
  }
  __device__ s64 kv_head_of(s64 head) const { return head / (heads / kv_heads); }
  __device__ s64 position(s64 i) const { return i + keys - queries; }
  __device__ bool sees(s64 head, s64 i, s64 j) const {
    return (!CAUSAL || j <= position(i)) && hooks.mask(position(i), j, heads_before + head) != 0;
  }
  // Returns the scaled product of query i and key j.
  __device__ f64 product(s64 head, s64 i, s64 j) const {
    const s64 kv_head = kv_head_of(head);
    return numbers.product_scale(scale, head, kv_head) * dot(Q, head, i, K, kv_head, j, HD);
  }
  __device__ WeightAndGradient weighed(s64 head, s64 i, s64 j) const {
    const s64 q = position(i), of_hooks = heads_before + head;
    const f64 log_sum = L.data[head * L.stride[0] + i * L.stride[1]];
    if (!sees(head, i, j) || log_sum == -infinity()) return {0, 0};
    const f64 s = product(head, i, j), weight = exp(hooks.score(s, q, j, of_hooks) - log_sum);
    const f64 delta = DELTA.data[head * DELTA.stride[0] + i * DELTA.stride[1]];
    const s64 kv_head = kv_head_of(head);
    const f64 of_weight = numbers.value_scale(kv_head) * dot(DO, head, i, V, kv_head, j, HV) - delta;
    return {weight, weight * of_weight * score_slope(hooks, s, q, j, of_hooks)};
  }
  __device__ void make_query(s64 head, s64 i) const {
    const int d = threadIdx.x;
    const s64 kv_head = kv_head_of(head);
    f64 dq = 0;
    each_weighed(
        keys, [&](s64 j) { return weighed(head, i, j); },
        [&](const WeightAndGradient& x, s64 j) { dq += x.gradient * to_f64(element(K, kv_head, j, d)); });
    if (d < HD) element(DQ, head, i, d) = scale * numbers.key_scale(kv_head) * dq;
  }
  __device__ void make_key(s64 kv_head, s64 j) const {
    const s64 sharing = heads / kv_heads;
    const int d = threadIdx.x;
    f64 dk = 0, dv = 0;
    for (s64 head = kv_head * sharing; head < (kv_head + 1) * sharing; ++head)
      each_weighed(
          queries, [&](s64 i) { return weighed(head, i, j); },
          [&](const WeightAndGradient& x, s64 i) {
            dk += numbers.query_scale(head) * x.gradient * to_f64(element(Q, head, i, d));
            if (d < HV) dv += x.weight * to_f64(element(DO, head, i, d));
          });
    if (d < HD) element(DK, kv_head, j, d) = scale * dk;
    if (d < HV) element(DV, kv_head, j, d) = dv;
  }
};

#endif

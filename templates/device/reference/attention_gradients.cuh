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

  // Makes all rows of the gradients, a block of 256 threads four at a time, so that an element of the other rows is
  // converted once for four: those of the queries, then those of the keys and values.
  __device__ void make() const {
    each_group(heads, queries, [&](s64 head, s64 i) { make_queries(head, i); });
    each_group(kv_heads, keys, [&](s64 kv_head, s64 j) { make_keys(kv_head, j); });
  }

  // Makes the logarithms of sums that the forward pass of Q and K gives, as `make`. L is not read. DELTA may be any
  // numbers: those of the forward pass would make gradients zero where a query sees one key, and what is compared then
  // would be rounding errors.
  __device__ void make_log_sums(const View<f32, 2>& log_sums) const {
    each_group(heads, queries, [&](s64 head, s64 i) {
      const s64 kv_head = kv_head_of(head), of_hooks = heads_before + head;
      const f64 unit = numbers.product_scale(scale, head, kv_head);
      convert(group().first, Q, head, i, queries, HD);
      __syncthreads();
      f64 sum[kTogether] = {};
      for (s64 j = threadIdx.x; j < keys; j += 256) {
        const Sums s = products(group().first, K, kv_head, j, HD);
        for (int r = 0; r < kTogether; ++r)
          if (i + r < queries && sees(head, i + r, j))
            sum[r] += exp(hooks.score(unit * s.of[r], position(i + r), j, of_hooks));
      }
      for (int r = 0; r < kTogether; ++r) {
        const f64 all = row_sum(256, [&](s64) { return sum[r]; });
        if (threadIdx.x == 0 && i + r < queries)
          log_sums.data[head * log_sums.stride[0] + (i + r) * log_sums.stride[1]] = log(all);
      }
    });
  }

 private:
  static constexpr int kTogether = 4;
  // Numbers of the rows that a block computes together.
  struct Sums {
    f64 of[kTogether];
  };
  struct Weights {
    WeightAndGradient of[kTogether];
  };
  // Their elements, of which the scores are made and the gradients of the weights, and what 256 other rows give them.
  struct Group {
    Sums first[HD], second[HV];
    Weights weights[256];
  };
  __device__ static Group& group() {
    __shared__ Group shared;
    return shared;
  }
  template <class F> __device__ static void each_group(s64 matrices, s64 rows, F f) {
    const s64 groups = ceil_div(rows, s64{kTogether});
    for (s64 g = blockIdx.x; g < matrices * groups; g += gridDim.x) f(g / groups, g % groups * kTogether);
  }
  // Converts the rows from `row` on; those past the end are zeros.
  template <class A>
  __device__ static void convert(Sums* to, const View<const A, 3>& from, s64 head, s64 row, s64 rows, int size) {
    const int d = threadIdx.x;
    for (int r = 0; d < size && r < kTogether; ++r)
      to[d].of[r] = row + r < rows ? to_f64(element(from, head, row + r, d)) : 0;
  }
  // Returns the products of the converted rows and row j.
  template <class A>
  __device__ static Sums products(const Sums* rows, const View<const A, 3>& other, s64 head, s64 j, int size) {
    Sums sums = {};
    const A* at = &element(other, head, j, 0);
    for (int d = 0; d < size; ++d, at += other.stride[2]) {
      const f64 x = to_f64(*at);
      for (int r = 0; r < kTogether; ++r) sums.of[r] += rows[d].of[r] * x;
    }
    return sums;
  }
  // Calls add(weights, i) in threads 0..HD - 1 for i in 0..count - 1, where weighed(i) returns the weights of row i.
  // Called by all of a block's 256 threads.
  template <class Weighed, class Add> __device__ static void each_weighed(s64 count, Weighed weighed, Add add) {
    Weights* weights = group().weights;
    for (s64 first = 0; first < count; first += 256) {
      if (first + threadIdx.x < count) weights[threadIdx.x] = weighed(first + threadIdx.x);
      __syncthreads();
      for (int j = 0; threadIdx.x < HD && j < 256 && first + j < count; ++j) add(weights[j], first + j);
      __syncthreads();
    }
  }
  __device__ s64 kv_head_of(s64 head) const { return head / (heads / kv_heads); }
  __device__ s64 position(s64 i) const { return i + keys - queries; }
  __device__ bool sees(s64 head, s64 i, s64 j) const {
    return (!CAUSAL || j <= position(i)) && hooks.mask(position(i), j, heads_before + head) != 0;
  }
  // Returns the weight of key j for query i, whose products with what they are weighed with are `s` and `of_weight`.
  __device__ WeightAndGradient weighed(s64 head, s64 i, s64 j, f64 s, f64 of_weight) const {
    if (i >= queries || j >= keys || !sees(head, i, j)) return {0, 0};
    const s64 q = position(i), of_hooks = heads_before + head, kv_head = kv_head_of(head);
    const f64 log_sum = L.data[head * L.stride[0] + i * L.stride[1]];
    if (log_sum == -infinity()) return {0, 0};
    s *= numbers.product_scale(scale, head, kv_head);
    const f64 weight = exp(hooks.score(s, q, j, of_hooks) - log_sum);
    const f64 delta = DELTA.data[head * DELTA.stride[0] + i * DELTA.stride[1]];
    const f64 gradient = weight * (numbers.value_scale(kv_head) * of_weight - delta);
    return {weight, gradient * score_slope(hooks, s, q, j, of_hooks)};
  }
  __device__ void make_queries(s64 head, s64 i) const {
    const int d = threadIdx.x;
    const s64 kv_head = kv_head_of(head);
    convert(group().first, Q, head, i, queries, HD);
    convert(group().second, DO, head, i, queries, HV);
    __syncthreads();
    f64 dq[kTogether] = {};
    each_weighed(
        keys,
        [&](s64 j) {
          const Sums s = products(group().first, K, kv_head, j, HD);
          const Sums of_weights = products(group().second, V, kv_head, j, HV);
          Weights weights;
          for (int r = 0; r < kTogether; ++r) weights.of[r] = weighed(head, i + r, j, s.of[r], of_weights.of[r]);
          return weights;
        },
        [&](const Weights& x, s64 j) {
          const f64 k = to_f64(element(K, kv_head, j, d));
          for (int r = 0; r < kTogether; ++r)
            if (x.of[r].weight != 0) dq[r] += x.of[r].gradient * k;
        });
    for (int r = 0; r < kTogether; ++r)
      if (d < HD && i + r < queries) element(DQ, head, i + r, d) = scale * numbers.key_scale(kv_head) * dq[r];
  }
  __device__ void make_keys(s64 kv_head, s64 j) const {
    const s64 sharing = heads / kv_heads;
    const int d = threadIdx.x;
    convert(group().first, K, kv_head, j, keys, HD);
    convert(group().second, V, kv_head, j, keys, HV);
    __syncthreads();
    f64 dk[kTogether] = {}, dv[kTogether] = {};
    for (s64 head = kv_head * sharing; head < (kv_head + 1) * sharing; ++head)
      each_weighed(
          queries,
          [&](s64 i) {
            const Sums s = products(group().first, Q, head, i, HD);
            const Sums of_weights = products(group().second, DO, head, i, HV);
            Weights weights;
            for (int r = 0; r < kTogether; ++r) weights.of[r] = weighed(head, i, j + r, s.of[r], of_weights.of[r]);
            return weights;
          },
          [&](const Weights& x, s64 i) {
            const f64 q = numbers.query_scale(head) * to_f64(element(Q, head, i, d));
            const f64 o = d < HV ? to_f64(element(DO, head, i, d)) : 0;
            for (int r = 0; r < kTogether; ++r) {
              if (x.of[r].weight == 0) continue;
              dk[r] += x.of[r].gradient * q;
              dv[r] += x.of[r].weight * o;
            }
          });
    for (int r = 0; r < kTogether; ++r) {
      if (j + r >= keys) break;
      if (d < HD) element(DK, kv_head, j + r, d) = scale * dk[r];
      if (d < HV) element(DV, kv_head, j + r, d) = dv[r];
    }
  }
};

#endif

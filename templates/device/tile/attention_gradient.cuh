#pragma once
// The hooks of attention in its backward pass: the derivative of `score` is that of its text, computed with dual
// numbers, or what the hook `score_gradient` gives. Hooks and CAUSAL are the template's.
#include "device/ptx/ex2.cuh"
#include "device/ptx/infinity.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/dual.cuh"

#ifndef TMA_JIT_REFERENCE

// Returns a score and its derivative by the scaled product s.
template <class H>
__device__ inline auto differentiated(const H& hooks, f32 s, s32 q, s32 k, s32 head, int)
    -> decltype(Dual<f32>(hooks.score_of(Dual<f32>(s, 1), q, k, head))) {
  return hooks.score_of(Dual<f32>(s, 1), q, k, head);
}
template <class H> __device__ inline Dual<f32> differentiated(const H&, f32 s, s32, s32, s32, long) {
  static_assert(sizeof(H) == 0,
                "the text of the hook score cannot be differentiated: write it as one expression of s, numbers, "
                "operands and math functions, or give its derivative by s as the hook score_gradient");
  return s;
}
template <class H> __device__ inline Dual<f32> score_with_slope(const H& hooks, f32 s, s32 q, s32 k, s32 head) {
  if constexpr (!kScoreGiven)
    return {s, 1};
  else if constexpr (H::score_gradient_given)
    return {hooks.score(s, q, k, head), hooks.score_gradient(s, q, k, head)};
  else
    return differentiated(hooks, s, q, k, head, 0);
}

// Returns the exponent of 2 that is added to the weight of each key of a query whose sum of weights has this logarithm:
// that of the inverse of the sum, or none for a query that sees no keys.
__device__ inline f32 weight_exponent(f32 log_sum) {
  return log_sum == -infinity() ? log_sum : -kLog2e * log_sum;
}

// What the hooks make of the products of a step in which a tile of Work sees keys or is seen by queries.
struct GradientHooks {
  const Hooks& hooks;
  const f32 scale;

  // Converts products of queries and keys to weights, and the gradients of weights, less the queries' deltas, to
  // those of scaled products. at(i) gives the query, its position, the key and the exponent of the weights of register
  // i; hides(query, key) whether the score has no weight.
  template <class Scores, class At, class Hides>
  __device__ void apply(Scores& s, Scores& ds, s32 head, const At& at, const Hides& hides) const {
#pragma unroll
    for (int i = 0; i < Scores::Layout::kRegisters; ++i) {
      const auto place = at(i);
      const Dual<f32> score = score_with_slope(hooks, s.x[i] * scale, place.position, place.key, head);
      const f32 weight = ex2(fmaf(score.value, kLog2e, place.exponent));
      const bool hidden = hides(place);
      s.x[i] = hidden ? 0 : weight;
      ds.x[i] = hidden ? 0 : weight * score.slope * ds.x[i];
    }
  }
};

#endif

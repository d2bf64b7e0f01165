#pragma once
// The float64 reference of all attention_backward files. T, CAUSAL, HD, HV and Dims are the template's.
//
// What the files of the kernel attention_backward share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16}
//! dim     HEADS, KV_HEADS in 1..65535              "of all sequences of a batch; HEADS / KV_HEADS of queries share keys and values"
//! dim     M, N            in 0..2147483647         "queries, keys"
//!
//! param   CAUSAL  = 0     in {0, 1}                "1: a query sees the keys up to its own, the last query all of them"
//! param   VD      = 0     in {0, 32, 64, 96, 128, 192} "elements of a value; 0: as many as HD"
//!
//! let     HV      = VD == 0 ? HD : VD
//!
//! require VD != HD                                 "0 stands for as many elements as HD"
//! require HV <= HD                                 "values have at most as many elements as keys"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//! require stride(L, 1) == 1 && stride(DELTA, 1) == 1 "elements of a head of L and of DELTA are neighbours"
//! require given(score_gradient) == 0 || given(score) == 1 "score_gradient is the derivative of a score of yours"
//!
//! tensor  Q  : T[HEADS, M, HD]
//! tensor  K  : T[KV_HEADS, N, HD]
//! tensor  V  : T[KV_HEADS, N, HV]
//! tensor  DO : T[HEADS, M, HV]
//! tensor  L  : f32[HEADS, M]                       "the logarithms of sums that attention gives"
//! tensor  DELTA : f32[HEADS, M]                    "what attention_delta gives"
//! tensor  DQ : T[HEADS, M, HD]     out
//! tensor  DK : T[KV_HEADS, N, HD]  out
//! tensor  DV : T[KV_HEADS, N, HV]  out
//! scalar  scale : f32 = 0.125
//! hook    score(f32 s, s32 q, s32 k, s32 head) : f32 generic = s "as attention's"
//! hook    score_gradient(f32 s, s32 q, s32 k, s32 head) : f32 generic = 1 "the derivative of score by s, where its text cannot be differentiated"
//! hook    mask(s32 q, s32 k, s32 head) : s32 generic = 1 "as attention's"
#include "device/reference/score_gradient.cuh"

#ifdef TMA_JIT_REFERENCE

// The rows that a sequence has in the tensors, and what its scores are.
struct GradientReference {
  View<const T, 3> Q, K, V, DO;
  View<const f32, 2> L, DELTA;
  f32 scale;
  const Hooks& hooks;
  s64 queries, keys;

  __device__ f64 dot(const View<const T, 3>& a, s64 a_head, s64 i, const View<const T, 3>& b, s64 b_head, s64 j,
                     int size) const {
    f64 sum = 0;
    for (int d = 0; d < size; ++d) sum += to_f64(element(a, a_head, i, d)) * to_f64(element(b, b_head, j, d));
    return sum;
  }
  __device__ bool sees(s64 head, s64 i, s64 j) const {
    const s64 q = i + keys - queries;
    return (!CAUSAL || j <= q) && hooks.mask(q, j, head) != 0;
  }
  __device__ WeightAndGradient weighed(s64 head, s64 kv_head, s64 i, s64 j) const {
    const f64 log_sum = L.data[head * L.stride[0] + i * L.stride[1]];
    if (!sees(head, i, j) || log_sum == -infinity()) return {0, 0};
    const s64 q = i + keys - queries;
    const f64 s = scale * dot(Q, head, i, K, kv_head, j, HD), weight = exp(hooks.score(s, q, j, head) - log_sum);
    const f64 delta = DELTA.data[head * DELTA.stride[0] + i * DELTA.stride[1]];
    return {weight, weight * (dot(DO, head, i, V, kv_head, j, HV) - delta) * score_slope(hooks, s, q, j, head)};
  }
};

// A block of 256 threads computes one row of a gradient at a time: those of the queries, then those of the keys and
// values.
extern "C" __global__ void attention_backward_reference(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                                        View<const T, 3> DO, View<const f32, 2> L,
                                                        View<const f32, 2> DELTA, View<f64, 3> DQ, View<f64, 3> DK,
                                                        View<f64, 3> DV, f32 scale, const Dims dims,
                                                        const __grid_constant__ Hooks hooks) {
  const s64 sharing = dims.HEADS / dims.KV_HEADS;
  const GradientReference of = {Q, K, V, DO, L, DELTA, scale, hooks, dims.M, dims.N};
  const int d = threadIdx.x;
  for (s64 r = blockIdx.x; r < s64{dims.HEADS} * dims.M; r += gridDim.x) {
    const s64 i = r % dims.M, head = r / dims.M, kv_head = head / sharing;
    f64 dq = 0;
    each_weighed(
        dims.N, [&](s64 j) { return of.weighed(head, kv_head, i, j); },
        [&](const WeightAndGradient& x, s64 j) {
          if (d < HD) dq += x.gradient * to_f64(element(K, kv_head, j, d));
        });
    if (d < HD) element(DQ, head, i, d) = scale * dq;
  }
  for (s64 r = blockIdx.x; r < s64{dims.KV_HEADS} * dims.N; r += gridDim.x) {
    const s64 j = r % dims.N, kv_head = r / dims.N;
    f64 dk = 0, dv = 0;
    for (s64 head = kv_head * sharing; head < (kv_head + 1) * sharing; ++head)
      each_weighed(
          dims.M, [&](s64 i) { return of.weighed(head, kv_head, i, j); },
          [&](const WeightAndGradient& x, s64 i) {
            if (d < HD) dk += x.gradient * to_f64(element(Q, head, i, d));
            if (d < HV) dv += x.weight * to_f64(element(DO, head, i, d));
          });
    if (d < HD) element(DK, kv_head, j, d) = scale * dk;
    if (d < HV) element(DV, kv_head, j, d) = dv;
  }
}

#endif

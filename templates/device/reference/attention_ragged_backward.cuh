#pragma once
// The float64 reference of all attention_ragged_backward files. T, CAUSAL, HD, HV and Dims are the template's.
//
// What the files of the kernel attention_ragged_backward share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16}
//! dim     BATCH           in 0..65535              "sequences"
//! dim     HEADS, KV_HEADS in 1..32767              "of a sequence; HEADS / KV_HEADS of queries share keys and values"
//! dim     M, N            in 0..2147400000         "queries, keys, of all sequences together"
//!
//! param   CAUSAL  = 0     in {0, 1} asked          "1: a query sees its sequence's keys up to its own, the last query all of them"
//! param   VD      = 0     in {0, 32, 64, 96, 128, 192} "elements of a value; 0: as many as HD"
//!
//! let     HV      = VD == 0 ? HD : VD
//! let     SCALED  = 0                              "numbers of 16 bits have no scales"
//! let     SINKS   = 0                              "their weight is in L"
//!
//! require VD != HD                                 "leave VD out where values have as many elements as keys"
//! require HV <= HD                                 "values have at most as many elements as keys"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//! require stride(L, 1) == 1 && stride(DELTA, 1) == 1 "elements of a head of L and of DELTA are neighbours"
//! require given(score_gradient) == 0 || given(score) == 1 "score_gradient is the derivative of a score of yours"
//!
//! tensor  Q   : T[M, HEADS, HD]
//! tensor  K   : T[N, KV_HEADS, HD]
//! tensor  V   : T[N, KV_HEADS, HV]
//! tensor  DO  : T[M, HEADS, HV]
//! tensor  CU  : s32[BATCH + 1]  in 0..M  rising    "where the queries of each sequence begin, and the last end"
//! tensor  CUK : s32[BATCH + 1]  in 0..N  rising    "likewise the keys"
//! tensor  L   : f32[HEADS, M]                      "the logarithms of sums that attention_ragged gives"
//! tensor  DELTA : f32[HEADS, M]                    "what attention_delta gives of O and DO with their first two dimensions exchanged"
//! tensor  DQ  : T[M, HEADS, HD]     out
//! tensor  DK  : T[N, KV_HEADS, HD]  out
//! tensor  DV  : T[N, KV_HEADS, HV]  out
//! scalar  scale : f32 = 0.125
//! hook    score(f32 s, s32 q, s32 k, s32 head) : f32 generic = s "as attention_ragged's"
//! hook    score_gradient(f32 s, s32 q, s32 k, s32 head) : f32 generic = 1 "the derivative of score by s, where its text cannot be differentiated"
//! hook    mask(s32 q, s32 k, s32 head) : s32 generic = 1 "as attention_ragged's"
//!
//! inputs  attention_ragged_backward_inputs  grid min(HEADS * M, 65536)  block 256 "L of Q and K"
#include "device/reference/attention_gradients.cuh"
#include "device/tile/sequence_rows.cuh"

#ifdef TMA_JIT_REFERENCE

// Returns a sequence's rows of a packed tensor as [head, row, element], and of numbers as [head, row].
template <class E> __device__ inline View<E, 3> sequence_of(const View<E, 3>& of, s64 first) {
  return {of.data + first * of.stride[0], {of.stride[1], of.stride[0], of.stride[2]}};
}
template <class E> __device__ inline View<E, 2> sequence_of(const View<E, 2>& of, s64 first) {
  return {of.data + first * of.stride[1], {of.stride[0], of.stride[1]}};
}

// Calls f(reference, query, key) for each sequence, with the reference of its gradients, which has no L, DELTA and
// gradients yet, and its first query and key.
template <class F>
__device__ inline void each_sequence(const View<const T, 3>& Q, const View<const T, 3>& K, const View<const T, 3>& V,
                                     const View<const T, 3>& DO, const View<const s32, 1>& CU,
                                     const View<const s32, 1>& CUK, f32 scale, const Dims& dims, const Hooks& hooks,
                                     F f) {
  for (s64 b = 0; b < dims.BATCH; ++b) {
    const SequenceRows q(CU, b, dims.M, dims.M), k(CUK, b, dims.N, dims.N);
    f(GradientReference<T>{sequence_of(Q, q.first),
                           sequence_of(K, k.first),
                           sequence_of(V, k.first),
                           sequence_of(DO, q.first),
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           scale,
                           hooks,
                           dims.HEADS,
                           dims.KV_HEADS,
                           q.count,
                           k.count,
                           b * dims.HEADS},
      q.first, k.first);
  }
}

// Rows of no sequence are left as they are.
extern "C" __global__ void attention_ragged_backward_reference(
    View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V, View<const T, 3> DO, View<const s32, 1> CU,
    View<const s32, 1> CUK, View<const f32, 2> L, View<const f32, 2> DELTA, View<f64, 3> DQ, View<f64, 3> DK,
    View<f64, 3> DV, f32 scale, const Dims dims, const __grid_constant__ Hooks hooks) {
  each_sequence(Q, K, V, DO, CU, CUK, scale, dims, hooks, [&](GradientReference<T> of, s64 query, s64 key) {
    of.L = sequence_of(L, query), of.DELTA = sequence_of(DELTA, query), of.DQ = sequence_of(DQ, query);
    of.DK = sequence_of(DK, key), of.DV = sequence_of(DV, key);
    of.make();
  });
}

extern "C" __global__ void attention_ragged_backward_inputs(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                                            View<const T, 3> DO, View<const s32, 1> CU,
                                                            View<const s32, 1> CUK, View<f32, 2> L, View<f32, 2> DELTA,
                                                            View<T, 3>, View<T, 3>, View<T, 3>, f32 scale,
                                                            const Dims dims, const __grid_constant__ Hooks hooks) {
  each_sequence(Q, K, V, DO, CU, CUK, scale, dims, hooks,
                [&](const GradientReference<T>& of, s64 query, s64) { of.make_log_sums(sequence_of(L, query)); });
}

#endif

#pragma once
// The float64 reference of all attention_backward files. T, R, CAUSAL, SCALED, HD, HV and Dims are the template's.
//
// What the files of the kernel attention_backward share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16, e4m3}     "elements of queries, keys and values"
//! type    R       = T     in {bf16, f16}           "elements of gradients"
//! dim     HEADS, KV_HEADS in 1..65535              "of all sequences of a batch; HEADS / KV_HEADS of queries share keys and values"
//! dim     M, N            in 0..2147483647         "queries, keys"
//!
//! param   CAUSAL  = 0     in {0, 1} asked          "1: a query sees the keys up to its own, the last query all of them"
//! param   SCALED  = 0     in {0, 1}                "1: queries, keys and values are SQ, SK and SV of their head times what is stored, and gradients are those of the products"
//! param   VD      = 0     in {0, 32, 64, 96, 128, 192} "elements of a value; 0: as many as HD"
//!
//! let     HV      = VD == 0 ? HD : VD
//! let     SINKS   = 0                              "their weight is in L"
//!
//! require sizeof(T) == 1 || dtype(R) == dtype(T)   "gradients are of the type of the queries, unless that is e4m3"
//! require SCALED == 0 || sizeof(T) == 1            "only numbers of 8 bits have scales"
//! require VD != HD                                 "leave VD out where values have as many elements as keys"
//! require HV <= HD                                 "values have at most as many elements as keys"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//! require stride(L, 1) == 1 && stride(DELTA, 1) == 1 "elements of a head of L and of DELTA are neighbours"
//! require given(score_gradient) == 0 || given(score) == 1 "score_gradient is the derivative of a score of yours"
//!
//! tensor  Q  : T[HEADS, M, HD]
//! tensor  K  : T[KV_HEADS, N, HD]
//! tensor  V  : T[KV_HEADS, N, HV]
//! tensor  SQ : f32[HEADS]  when SCALED == 1
//! tensor  SK : f32[KV_HEADS]  when SCALED == 1
//! tensor  SV : f32[KV_HEADS]  when SCALED == 1
//! tensor  DO : R[HEADS, M, HV]
//! tensor  L  : f32[HEADS, M]                       "the logarithms of sums that attention gives"
//! tensor  DELTA : f32[HEADS, M]                    "what attention_delta gives"
//! tensor  DQ : R[HEADS, M, HD]     out
//! tensor  DK : R[KV_HEADS, N, HD]  out
//! tensor  DV : R[KV_HEADS, N, HV]  out
//! scalar  scale : f32 = 0.125
//! hook    score(f32 s, s32 q, s32 k, s32 head) : f32 generic = s "as attention's"
//! hook    score_gradient(f32 s, s32 q, s32 k, s32 head) : f32 generic = 1 "the derivative of score by s, where its text cannot be differentiated"
//! hook    mask(s32 q, s32 k, s32 head) : s32 generic = 1 "as attention's"
//!
//! inputs  attention_backward_inputs  grid min(HEADS * M, 65536)  block 256 "L of Q and K"
#include "device/reference/attention_gradients.cuh"

#ifdef TMA_JIT_REFERENCE

extern "C" __global__ void attention_backward_reference(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                                        View<const f32, 1> SQ, View<const f32, 1> SK,
                                                        View<const f32, 1> SV, View<const R, 3> DO,
                                                        View<const f32, 2> L, View<const f32, 2> DELTA, View<f64, 3> DQ,
                                                        View<f64, 3> DK, View<f64, 3> DV, f32 scale, const Dims dims,
                                                        const __grid_constant__ Hooks hooks) {
  const HeadNumbers numbers = {SQ, SK, SV, {}, 1};
  GradientReference<R>{Q,      K,      V, DO, L, DELTA, DQ, DK, DV, numbers, scale, hooks, dims.HEADS, dims.KV_HEADS,
                       dims.M, dims.N, 0}
      .make();
}

extern "C" __global__ void attention_backward_inputs(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                                     View<const f32, 1> SQ, View<const f32, 1> SK,
                                                     View<const f32, 1> SV, View<const R, 3> DO, View<f32, 2> L,
                                                     View<const f32, 2>, View<R, 3>, View<R, 3>, View<R, 3>, f32 scale,
                                                     const Dims dims, const __grid_constant__ Hooks hooks) {
  const HeadNumbers numbers = {SQ, SK, SV, {}, 1};
  GradientReference<R>{Q,      K,      V, DO, {}, {}, {}, {}, {}, numbers, scale, hooks, dims.HEADS, dims.KV_HEADS,
                       dims.M, dims.N, 0}
      .make_log_sums(L);
}

#endif

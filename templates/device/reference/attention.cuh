#pragma once
// The float64 reference of all attention files. T, O, CAUSAL, LSE, SCALED, SINKS, HD, VD and Dims are the template's.
//
// What the files of the kernel attention share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16, e4m3}     "elements of queries, keys and values"
//! type    R       = T     in {bf16, f16}           "elements of results"
//! dim     HEADS, KV_HEADS in 1..65535              "of all sequences of a batch; HEADS / KV_HEADS of queries share keys and values"
//! dim     M, N            in 0..2147483647         "queries, keys"
//! dim     SINK_HEADS      in 1..65535 when SINKS == 1 "of one sequence"
//!
//! param   CAUSAL  = 0     in {0, 1} asked          "1: a query sees the keys up to its own, the last query all of them"
//! param   LSE     = 0     in {0, 1}                "1: L receives the logarithm of each query's sum of weights"
//! param   SCALED  = 0     in {0, 1}                "1: queries, keys and values are SQ, SK and SV of their head times what is stored"
//! param   SINKS   = 0     in {0, 1}                "1: SINK is a score of each head that takes weight and has no value"
//! param   VD      = 0     in {0, 32, 64, 96, 128, 192} "elements of a value and of a result; 0: as many as HD"
//!
//! let     DV      = VD == 0 ? HD : VD
//! let     FEW_64  = HEADS * ceil_div(M, 64) <= device.sm_count * (CAUSAL == 1 && M >= 1024 ? 2 : 1) "tiles of 64 queries, for which larger ones would leave SMs idle"
//! let     TILES_128 = HEADS * ceil_div(M, 128)
//! let     FEW_128 = TILES_128 <= device.sm_count "tiles of 128 queries: at most one for an SM"
//!
//! require sizeof(T) == 1 || dtype(R) == dtype(T) "results are of the type of the queries, unless that is e4m3"
//! require SCALED == 0 || sizeof(T) == 1            "only numbers of 8 bits have scales"
//! require SINKS == 0 || HEADS % SINK_HEADS == 0    "the heads of each sequence have the same sinks"
//! require VD != HD                                 "leave VD out where values have as many elements as keys"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//!
//! tensor  Q : T[HEADS, M, HD]
//! tensor  K : T[KV_HEADS, N, HD]
//! tensor  V : T[KV_HEADS, N, DV]
//! tensor  SQ : f32[HEADS]  when SCALED == 1
//! tensor  SK : f32[KV_HEADS]  when SCALED == 1
//! tensor  SV : f32[KV_HEADS]  when SCALED == 1
//! tensor  SINK : f32[SINK_HEADS]  when SINKS == 1
//! tensor  O : R[HEADS, M, DV]  out
//! tensor  L : f32[HEADS, M]  out  when LSE == 1
//! scalar  scale : f32 = 0.125
//! hook    score(f32 s, s32 q, s32 k, s32 head) : f32 generic = s "applied to each scaled product of query q and key k"
//! hook    mask(s32 q, s32 k, s32 head) : s32 generic = 1 "whether query q sees key k; steps in which no query sees a key are skipped"
#include "device/ptx/cvt.cuh"
#include "device/reference/attention_rows.cuh"
#include "device/tile/head_numbers.cuh"

#ifdef TMA_JIT_REFERENCE
extern "C" __global__ void attention_reference(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                               View<const f32, 1> SQ, View<const f32, 1> SK, View<const f32, 1> SV,
                                               View<const f32, 1> SINK, View<f64, 3> O, View<f64, 2> L, f32 scale,
                                               const Dims dims, const __grid_constant__ Hooks hooks) {
  const HeadNumbers numbers = {SQ, SK, SV, SINK, static_cast<int>(dims.SINK_HEADS)};
  const s64 groups = ceil_div(s64{dims.M}, HeadRows::kTogether);
  for (s64 i = blockIdx.x; i < s64{dims.HEADS} * groups; i += gridDim.x) {
    const s64 row = i % groups * HeadRows::kTogether, kv_head = i / groups / (dims.HEADS / dims.KV_HEADS);
    const s32 head = i / groups;
    const HeadRows rows = {min(HeadRows::kTogether, dims.M - row), row + dims.N - dims.M, dims.N, head};
    const f64 product = numbers.product_scale(scale, head, kv_head), unit = numbers.value_scale(kv_head);
    const auto query = [&](int r, int d) {
      return to_f64(Q.data[head * Q.stride[0] + (row + r) * Q.stride[1] + d * Q.stride[2]]) * product;
    };
    const auto key = [&](s64 k) { return K.data + kv_head * K.stride[0] + k * K.stride[1]; };
    const auto value = [&](s64 k) { return V.data + kv_head * V.stride[0] + k * V.stride[1]; };
    attend_rows(rows, numbers.sink(head), hooks, query, key, K.stride[2], value, V.stride[2],
                [&](int r, f64 output, f64 sum) {
                  const s64 at = row + r;
                  const int d = threadIdx.x;
                  if (d < DV) O.data[head * O.stride[0] + at * O.stride[1] + d * O.stride[2]] = output * unit;
                  if (LSE && d == 0) L.data[head * L.stride[0] + at * L.stride[1]] = log(sum);
                });
  }
}
#endif

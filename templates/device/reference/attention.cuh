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
#include "device/tile/head_numbers.cuh"

#ifdef TMA_JIT_REFERENCE
// A block of max(128, HD, DV) threads computes eight rows of a head's output at a time, so that a key and a value are
// converted once for eight, from the weights of as many keys at a time as it has threads.
extern "C" __global__ void attention_reference(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                               View<const f32, 1> SQ, View<const f32, 1> SK, View<const f32, 1> SV,
                                               View<const f32, 1> SINK, View<f64, 3> O, View<f64, 2> L, f32 scale,
                                               const Dims dims, const __grid_constant__ Hooks hooks) {
  const HeadNumbers numbers = {SQ, SK, SV, SINK, static_cast<int>(dims.SINK_HEADS)};
  constexpr int kLongest = HD > DV ? HD : DV, kThreads = kLongest > 128 ? kLongest : 128, kTogether = 8;
  __shared__ f64 weight[kThreads][kTogether], query[HD][kTogether], sums[kTogether];
  const s64 groups = (s64{dims.M} + kTogether - 1) / kTogether;
  for (s64 i = blockIdx.x; i < s64{dims.HEADS} * groups; i += gridDim.x) {
    const s64 row = i % groups * kTogether, head = i / groups, kv_head = head / (dims.HEADS / dims.KV_HEADS);
    const s64 rows = min(s64{kTogether}, dims.M - row), q = row + dims.N - dims.M;
    const s64 keys = CAUSAL ? max(s64{0}, min(s64{dims.N}, q + rows)) : dims.N;
    const int d = threadIdx.x;  // the element of the head that this thread computes
    const f64 product = numbers.product_scale(scale, head, kv_head);
    for (int r = 0; d < HD && r < kTogether; ++r) {
      const T* element = Q.data + head * Q.stride[0] + (row + r) * Q.stride[1] + d * Q.stride[2];
      query[d][r] = r < rows ? to_f64(*element) * product : 0;
    }
    __syncthreads();
    f64 sum = exp(f64{numbers.sink(head)}), made[kTogether] = {};  // `sum` is that of the row of the thread's number
    for (s64 first = 0; first < keys; first += kThreads) {
      const s64 k = first + threadIdx.x, count = min(s64{kThreads}, keys - first);
      f64 score[kTogether] = {};
      const T* key = K.data + kv_head * K.stride[0] + k * K.stride[1];
      for (int e = 0; k < keys && e < HD; ++e, key += K.stride[2]) {
        const f64 x = to_f64(*key);
        for (int r = 0; r < kTogether; ++r) score[r] += query[e][r] * x;
      }
      for (int r = 0; r < kTogether; ++r) {
        const bool sees = r < rows && k < keys && (!CAUSAL || k <= q + r) && hooks.mask(q + r, k, head) != 0;
        weight[threadIdx.x][r] = sees ? exp(hooks.score(score[r], q + r, k, head)) : 0;
      }
      __syncthreads();
      const T* value = V.data + kv_head * V.stride[0] + first * V.stride[1] + d * V.stride[2];
      for (int j = 0; d < DV && j < count; ++j, value += V.stride[1]) {
        const f64 x = to_f64(*value);
        for (int r = 0; r < kTogether; ++r)
          if (!CAUSAL || first + j <= q + r) made[r] += weight[j][r] * x;
      }
      for (int j = 0; d < kTogether && j < count; ++j) sum += weight[j][d];
      __syncthreads();
    }
    if (d < kTogether) sums[d] = sum;
    __syncthreads();
    for (int r = 0; r < kTogether; ++r) {
      if (r >= rows) break;
      if (d < DV) {
        const f64 output = sums[r] == 0 ? 0 : made[r] / sums[r] * numbers.value_scale(kv_head);
        O.data[head * O.stride[0] + (row + r) * O.stride[1] + d * O.stride[2]] = output;
      }
      if (LSE && d == 0) L.data[head * L.stride[0] + (row + r) * L.stride[1]] = log(sums[r]);
    }
  }
}
#endif

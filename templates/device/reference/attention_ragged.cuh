#pragma once
// The float64 reference of all attention_ragged files. T, CAUSAL, LSE, SINKS, HD, VD and Dims are the template's.
//
// What the files of the kernel attention_ragged share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16}
//! dim     BATCH           in 0..65535              "sequences"
//! dim     HEADS, KV_HEADS in 1..32767              "of a sequence; HEADS / KV_HEADS of queries share keys and values"
//! dim     M, N            in 0..2147400000         "queries, keys, of all sequences together"
//! dim     LONGEST         in 0..2147400000         "queries of the longest sequence, or more; a sequence's further ones are left out"
//!
//! param   CAUSAL  = 0     in {0, 1}                "1: a query sees its sequence's keys up to its own, the last query all of them"
//! param   LSE     = 0     in {0, 1}                "1: L receives the logarithm of each query's sum of weights"
//! param   SINKS   = 0     in {0, 1}                "1: SINK is a score of each head that takes weight and has no value"
//! param   VD      = 0     in {0, 32, 64, 96, 128, 192} "elements of a value and of a result; 0: as many as HD"
//!
//! let     SCALED  = 0                              "numbers of 16 bits have no scales"
//! let     DV      = VD == 0 ? HD : VD
//!
//! require VD != HD                                 "0 stands for as many elements as HD"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//!
//! tensor  Q   : T[M, HEADS, HD]
//! tensor  K   : T[N, KV_HEADS, HD]
//! tensor  V   : T[N, KV_HEADS, DV]
//! tensor  CU  : s32[BATCH + 1]  in 0..M  rising      "where the queries of each sequence begin, and the last end"
//! tensor  CUK : s32[BATCH + 1]  in 0..N  rising      "likewise the keys"
//! tensor  SINK : f32[HEADS]  when SINKS == 1
//! tensor  O   : T[M, HEADS, DV]  out
//! tensor  L   : f32[HEADS, M]  out  when LSE == 1
//! scalar  scale : f32 = 0.125
//! hook    score(f32 s, s32 q, s32 k, s32 head) : f32 generic = s "applied to each scaled product of query q and key k"
//! hook    mask(s32 q, s32 k, s32 head) : s32 generic = 1 "whether query q sees key k; steps in which no query sees a key are skipped"
#include "device/ptx/cvt.cuh"
#include "device/tile/head_numbers.cuh"
#include "device/tile/sequence_rows.cuh"

#ifdef TMA_JIT_REFERENCE
// A block of max(128, HD) threads computes one row of the output at a time, from the weights of as many keys at a time.
// Rows of no sequence are left as they are.
extern "C" __global__ void attention_ragged_reference(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                                      View<const s32, 1> CU, View<const s32, 1> CUK,
                                                      View<const f32, 1> SINK, View<f64, 3> O, View<f64, 2> L,
                                                      f32 scale, const Dims dims, const __grid_constant__ Hooks hooks) {
  const HeadNumbers numbers = {{}, {}, {}, SINK, static_cast<int>(dims.HEADS)};
  constexpr int kThreads = HD > 128 ? HD : 128;
  __shared__ f64 weight[kThreads], query[HD];
  for (s64 i = blockIdx.x; i < s64{dims.BATCH} * dims.HEADS * dims.LONGEST; i += gridDim.x) {
    const s64 row = i % dims.LONGEST, head = i / dims.LONGEST, b = head / dims.HEADS, own = head % dims.HEADS;
    const SequenceRows queries(CU, b, dims.M, dims.LONGEST), all(CUK, b, dims.N, dims.N);
    if (row >= queries.count) continue;
    const s64 shift = s64{all.count} - queries.count, kv_head = own / (dims.HEADS / dims.KV_HEADS);
    const s64 keys = CAUSAL ? max(s64{0}, min(s64{all.count}, row + 1 + shift)) : all.count;
    const int d = threadIdx.x;  // the element of the head that this thread computes
    const s64 at = queries.first + row;
    if (d < HD) query[d] = to_f64(Q.data[at * Q.stride[0] + own * Q.stride[1] + d * Q.stride[2]]) * scale;
    __syncthreads();
    f64 sum = exp(f64{numbers.sink(head)}), made = 0;
    for (s64 first = 0; first < keys; first += kThreads) {
      f64 score = 0;
      const T* key = K.data + kv_head * K.stride[1] + (all.first + first + threadIdx.x) * K.stride[0];
      if (first + threadIdx.x < keys)
        for (int e = 0; e < HD; ++e, key += K.stride[2]) score += query[e] * to_f64(*key);
      const s32 k = first + threadIdx.x, q = row + shift;
      const bool sees = k < keys && hooks.mask(q, k, head) != 0;
      weight[threadIdx.x] = sees ? exp(hooks.score(score, q, k, head)) : 0;
      __syncthreads();
      const T* value = V.data + kv_head * V.stride[1] + (all.first + first) * V.stride[0] + d * V.stride[2];
      for (int j = 0; j < kThreads && first + j < keys; ++j, value += V.stride[0]) {
        sum += weight[j];
        if (d < DV) made += weight[j] * to_f64(*value);
      }
      __syncthreads();
    }
    if (d < DV) O.data[at * O.stride[0] + own * O.stride[1] + d * O.stride[2]] = sum == 0 ? 0 : made / sum;
    if (LSE && d == 0) L.data[own * L.stride[0] + at * L.stride[1]] = log(sum);
    __syncthreads();
  }
}
#endif

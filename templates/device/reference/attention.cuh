#pragma once
// The float64 reference of all attention files. T, CAUSAL, LSE, HD, VD and Dims are the template's.
//
// What the files of the kernel attention share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16}
//! dim     HEADS, KV_HEADS in 1..65535              "of all sequences of a batch; HEADS / KV_HEADS of queries share keys and values"
//! dim     M, N            in 0..2147483647         "queries, keys"
//!
//! param   CAUSAL  = 0     in {0, 1}                "1: a query sees the keys up to its own, the last query all of them"
//! param   LSE     = 0     in {0, 1}                "1: L receives the logarithm of each query's sum of weights"
//! param   VD      = 0     in {0, 32, 64, 96, 128, 192} "elements of a value and of a result; 0: as many as HD"
//!
//! let     DV      = VD == 0 ? HD : VD
//!
//! require VD != HD                                 "0 stands for as many elements as HD"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//!
//! tensor  Q : T[HEADS, M, HD]
//! tensor  K : T[KV_HEADS, N, HD]
//! tensor  V : T[KV_HEADS, N, DV]
//! tensor  O : T[HEADS, M, DV]  out
//! tensor  L : f32[HEADS, M]  out  when LSE == 1
//! scalar  scale : f32 = 0.125
//! hook    score(f32 s, s32 q, s32 k, s32 head) : f32 generic = s "applied to each scaled product of query q and key k"
//! hook    mask(s32 q, s32 k, s32 head) : s32 generic = 1 "whether query q sees key k; steps in which no query sees a key are skipped"
#include "device/ptx/cvt.cuh"

#ifdef TMA_JIT_REFERENCE
// A block of max(128, HD) threads computes one row of the output at a time, from the weights of as many keys at a time.
extern "C" __global__ void attention_reference(View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V,
                                               View<f64, 3> O, View<f64, 2> L, f32 scale, const Dims dims,
                                               const __grid_constant__ Hooks hooks) {
  constexpr int kThreads = HD > 128 ? HD : 128;
  __shared__ f64 weight[kThreads], query[HD];
  for (s64 i = blockIdx.x; i < s64{dims.HEADS} * dims.M; i += gridDim.x) {
    const s64 row = i % dims.M, head = i / dims.M, kv_head = head / (dims.HEADS / dims.KV_HEADS);
    const s64 keys = CAUSAL ? max(s64{0}, min(s64{dims.N}, row + 1 + dims.N - dims.M)) : dims.N;
    const int d = threadIdx.x;  // the element of the head that this thread computes
    if (d < HD) query[d] = to_f64(Q.data[head * Q.stride[0] + row * Q.stride[1] + d * Q.stride[2]]) * scale;
    __syncthreads();
    f64 sum = 0, made = 0;
    for (s64 first = 0; first < keys; first += kThreads) {
      f64 score = 0;
      const T* key = K.data + kv_head * K.stride[0] + (first + threadIdx.x) * K.stride[1];
      if (first + threadIdx.x < keys)
        for (int e = 0; e < HD; ++e, key += K.stride[2]) score += query[e] * to_f64(*key);
      const s32 k = first + threadIdx.x, q = row + dims.N - dims.M;
      const bool sees = k < keys && hooks.mask(q, k, head) != 0;
      weight[threadIdx.x] = sees ? exp(hooks.score(score, q, k, head)) : 0;
      __syncthreads();
      const T* value = V.data + kv_head * V.stride[0] + first * V.stride[1] + d * V.stride[2];
      for (int j = 0; j < kThreads && first + j < keys; ++j, value += V.stride[1]) {
        sum += weight[j];
        if (d < DV) made += weight[j] * to_f64(*value);
      }
      __syncthreads();
    }
    if (d < DV) O.data[head * O.stride[0] + row * O.stride[1] + d * O.stride[2]] = sum == 0 ? 0 : made / sum;
    if (LSE && d == 0) L.data[head * L.stride[0] + row * L.stride[1]] = log(sum);
  }
}
#endif

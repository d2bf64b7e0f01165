#pragma once
// The float64 reference of the attention_decode_latent kernels, written independently of them. T, E, KD, HD, RAGGED,
// LSE, SCALED and Dims are the template's.
//
// What the files of the kernel attention_decode_latent share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16}           "elements of queries and results"
//! type    E       = T     in {bf16, f16, e4m3}     "elements of the cache"
//! dim     B               in 0..65535              "sequences"
//! dim     TOKENS          in 1..65535              "queries of a sequence, its last tokens"
//! dim     HEADS           in 1..32767              "heads of queries"
//! dim     KV_HEADS = 1                             "all heads share the cache"
//! dim     P, SIZE         in 0..2147400000         "pages of the cache, rows of a page"
//! dim     MAX_PAGES       in 0..2147400000         "pages that a sequence lists"
//!
//! param   RAGGED  = 0     in {0, 1}                "1: sequence b has LENGTHS[b] keys; 0: all fill the pages that they list"
//! param   LSE     = 0     in {0, 1}                "1: L is the logarithm of the sum of e^score, minus infinity without keys"
//!
//! param   SCALED  = 0     in {0, 1}                "1: keys and values are SC times what is stored"
//!
//! let     KD      = 576                            "elements of a query and of a row of the cache"
//! let     HD      = 512                            "of which the first are the value"
//! let     N       = MAX_PAGES * SIZE               "keys that a sequence has at most"
//! let     SINKS   = 0                              "heads have no sinks"
//!
//! require sizeof(E) == 1 || dtype(E) == dtype(T) "the cache is e4m3 or of the type of the queries"
//! require N <= 2147400000                          "keys of a sequence are counted in 31 bits"
//! require alignment(Q) >= 16 && stride(Q, 0) % 8 == 0 && stride(Q, 1) % 8 == 0 && stride(Q, 2) % 8 == 0 "queries are copied 16 bytes at a time"
//!
//! tensor  Q : T[B, TOKENS, HEADS, KD]
//! tensor  C : E[P, SIZE, KD]
//! tensor  PAGES : s32[B, MAX_PAGES]  in 0..P - 1  checked
//! tensor  LENGTHS : s32[B]  in 0..MAX_PAGES * SIZE  checked  when RAGGED == 1  "less than 0 is no key, and more than the pages have are as many"
//! tensor  SC : f32[KV_HEADS]  when SCALED == 1
//! tensor  O : T[B, TOKENS, HEADS, HD]  out
//! tensor  L : f32[B, TOKENS, HEADS]  out  when LSE == 1
//! scalar  scale : f32 = 0.07216878365
//! reference attention_decode_latent_reference  grid min(B * TOKENS * HEADS, 65536)  block 512  bits 5
#include "device/ptx/cvt.cuh"
#include "device/tile/head_numbers.cuh"

// Returns the scale of the cache as that of its keys and of its values.
__device__ inline HeadNumbers numbers_of(const View<const f32, 1>& SC) {
  return {{}, SC, SC, {}, 1};
}

// Returns how many keys a sequence has.
__device__ inline int length_of(const View<const s32, 1>& LENGTHS, int sequence, const Dims& dims) {
  const int most = dims.MAX_PAGES * dims.SIZE;
  return RAGGED == 0 ? most : max(0, min(most, LENGTHS.data[sequence * LENGTHS.stride[0]]));
}

#ifdef TMA_JIT_REFERENCE
// A block of HD threads computes one head of one token at a time, from the weights of HD keys at a time. Rows of pages
// that do not exist read as zeros.
extern "C" __global__ void attention_decode_latent_reference(View<const T, 4> Q, View<const E, 3> C,
                                                             View<const s32, 2> PAGES, View<const s32, 1> LENGTHS,
                                                             View<const f32, 1> SC, View<f64, 4> O, View<f64, 3> L,
                                                             f32 scale, const Dims dims) {
  __shared__ f64 weight[HD], query[KD];
  __shared__ s64 rows[HD];  // where the keys of the weights are; -1: nowhere
  const f64 unit = SCALED == 1 ? SC.data[0] : 1;
  const auto offset = [&](s64 sequence, s64 key) {
    const s64 page = PAGES.data[sequence * PAGES.stride[0] + key / dims.SIZE * PAGES.stride[1]];
    return page >= 0 && page < dims.P ? page * C.stride[0] + key % dims.SIZE * C.stride[1] : -1;
  };
  const int d = threadIdx.x;  // the element that this thread computes
  for (s64 i = blockIdx.x; i < s64{dims.B} * dims.TOKENS * dims.HEADS; i += gridDim.x) {
    const s64 head = i % dims.HEADS, token = i / dims.HEADS % dims.TOKENS, sequence = i / dims.HEADS / dims.TOKENS;
    const s64 keys = length_of(LENGTHS, sequence, dims) - (dims.TOKENS - 1 - token);
    for (int e = d; e < KD; e += HD)
      query[e] = to_f64(Q.data[sequence * Q.stride[0] + token * Q.stride[1] + head * Q.stride[2] + e * Q.stride[3]]);
    __syncthreads();
    f64 sum = 0, made = 0;
    for (s64 first = 0; first < keys; first += HD) {
      f64 score = 0;
      const s64 at = rows[d] = first + d < keys ? offset(sequence, first + d) : -1;
      for (int e = 0; at >= 0 && e < KD; ++e) score += query[e] * to_f64(C.data[at + e * C.stride[2]]);
      weight[d] = first + d < keys ? exp(score * scale * unit) : 0;
      __syncthreads();
      const int count = min(keys - first, s64{HD});
      for (int key = 0; key < count; ++key) {
        sum += weight[key];
        if (rows[key] >= 0) made += weight[key] * to_f64(C.data[rows[key] + d * C.stride[2]]);
      }
      __syncthreads();
    }
    O.data[sequence * O.stride[0] + token * O.stride[1] + head * O.stride[2] + d * O.stride[3]] =
        sum == 0 ? 0 : made / sum * unit;
    if (LSE == 1 && d == 0) L.data[sequence * L.stride[0] + token * L.stride[1] + head * L.stride[2]] = log(sum);
    __syncthreads();
  }
}
#endif

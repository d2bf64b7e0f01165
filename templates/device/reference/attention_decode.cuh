#pragma once
// The float64 reference of the attention_decode kernels, written independently of them. T, C, HD, LSE, SCALED, SINKS
// and Dims are the template's.
//
// What the files of the kernel attention_decode share of their manifests, which `use` this:
//! type    T       = bf16  in {bf16, f16}           "elements of queries and results"
//! type    C       = T     in {bf16, f16, e4m3}     "elements of keys and values"
//! dim     B               in 0..65535              "sequences"
//! dim     TOKENS          in 1..65535              "queries of a sequence, its last tokens"
//! dim     HEADS, KV_HEADS in 1..32767              "HEADS / KV_HEADS of queries share keys and values"
//!
//! param   HD      = 128   in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   LSE     = 0     in {0, 1}                "1: L is the logarithm of the sum of e^score, minus infinity without keys"
//! param   SCALED  = 0     in {0, 1}                "1: keys and values are SK and SV of their head times what is stored"
//! param   SINKS   = 0     in {0, 1}                "1: SINK is a score of each head that takes weight and has no value"
//! param   ROWS    = 16    in {16, 32}              "heads of queries times tokens that a block computes together"
//! param   WARPS   = 4     in {2, 4, 8}
//! param   STAGES  = 2     in {2, 3, 4}             "steps of a warp in flight or in use"
//! param   PARTS   = 0     in {0, 1, 2, 4, 8, 16, 32, 64, 128} "parts of a sequence's keys, on average if RAGGED; 0: as many as the device has room for"
//! param   LEAST   = 128   in {64, 128, 256, 512}   "keys of a part at least, unless it is the only one"
//! param   CLUSTER = 1     in {1, 2, 4, 8, 16}      "blocks that combine their parts of a sequence through shared memory"
//!
//! let     BN      = HD * sizeof(C) < 256 ? 32 : 16 "keys of a warp's step"
//! let     THREADS = 32 * WARPS
//! let     RING    = WARPS * STAGES * 2 * BN * HD * sizeof(C)
//! let     RESULTS = ROWS * WARPS * (HD + 10) * 4   "in place of the ring"
//! let     SENT    = CLUSTER == 1 ? 0 : CLUSTER * ceil_div(ROWS, CLUSTER) * HD * 6 + 8 "results from the blocks of a cluster"
//! let     SMEM    = align_up(SENT, 1024) + align_up(ROWS * HD * sizeof(T) + max(RING, RESULTS), 1024)
//! let     TILES   = KV_HEADS * ceil_div(TOKENS * (HEADS / KV_HEADS), ROWS) "blocks that share a part of a sequence's keys"
//! let     UNITS   = B * TILES                      "what is split into parts"
//! let     ROOM    = CLUSTER == 1 ? device.sm_count * max(1, min(2048 / THREADS, device.smem_per_sm / (SMEM + 2048))) : device.sm_count * 3 / 4 "blocks at a time; half of the SMs keep the memory busy, so that clusters, which not all SMs can be part of, need not fill the rest"
//! let     ONE     = ROOM / max(UNITS, 1)           "parts that fill the device once"
//! let     TWO     = 2 * ROOM / max(UNITS, 1)
//! let     FILLED  = CLUSTER > 1 ? max(CLUSTER, ONE) : ONE * UNITS * 10 >= 9 * ROOM ? ONE : TWO * UNITS * 10 >= 18 * ROOM ? TWO : 4 * ROOM / max(UNITS, 1)
//! let     WANTED  = max(1, min(PARTS == 0 ? FILLED : PARTS, ceil_div(N, LEAST)))
//! let     EVEN    = WANTED < CLUSTER ? WANTED : WANTED / CLUSTER * CLUSTER "parts of each if all are as long"
//! let     BUSY    = 100 * UNITS * CLUSTER / device.sm_count "hundredths of the SMs, if a cluster takes all parts of each unit"
//! let     PLACED  = BUSY <= (CLUSTER == 16 ? 50 : CLUSTER == 2 ? 100 : 91) "all run at a time: not all SMs can be part of a large cluster"
//! let     SPREAD  = BUSY >= 90 || CLUSTER > 2 && BUSY >= 45 && BUSY <= 50 "one SM of each pair, or nearly all, as long sequences need"
//! let     SHORT   = UNITS * N <= (sizeof(C) == 1 ? 65536 : 200000)
//! let     JOINED  = CLUSTER > 1 && PLACED && (SHORT || sizeof(C) == 2 && CLUSTER <= 8 && (SPREAD || RAGGED == 1 && CLUSTER == 8 && UNITS < 8)) "whether clusters are faster than parts that the last block combines, as measured on an H200"
//! let     SPARE   = PARTS != 0 ? UNITS * (PARTS - 1) : CLUSTER > 1 ? max(0, device.sm_count - UNITS) : 4 * UNITS <= ROOM ? ROOM - UNITS : UNITS < 8 * ROOM ? 4 * ROOM : 0 "parts beyond one of each"
//! let     BESIDES = min(SPARE / max(TILES, 1), B * max(0, ceil_div(N, LEAST) - 1))
//! let     ACROSS  = RAGGED == 0 ? B : max(B, ceil_div(B + BESIDES, EVEN))
//! let     GRID    = TILES * ACROSS * EVEN
//!
//! require sizeof(C) == 1 || dtype(C) == dtype(T) "keys and values are e4m3 or of the type of the queries"
//! require CLUSTER <= device.cluster_max || CLUSTER == 16 && device.cluster_max == 8 && device.sm_count >= 128 "the device must have clusters of that size"
//! require EVEN % CLUSTER == 0                      "a sequence has whole clusters of parts"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//! require SMEM + 512 <= device.smem_per_block      "the ring must fit in shared memory"
//! require ROWS * HD <= 4096                        "a warp's sums must fit into registers"
//! require alignment(Q) >= 16 && alignment(K) >= 16 && alignment(V) >= 16 "rows are copied 16 bytes at a time"
//! require stride(Q, 0) % 8 == 0 && stride(Q, 1) % 8 == 0 && stride(Q, 2) % 8 == 0 "rows are copied 16 bytes at a time"
//! require (stride(K, 0) | stride(K, 1) | stride(K, 2)) * sizeof(C) % 16 == 0 "rows are copied 16 bytes at a time"
//! require (stride(V, 0) | stride(V, 1) | stride(V, 2)) * sizeof(C) % 16 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 3) == 1 && stride(K, 3) == 1 && stride(V, 3) == 1 && stride(O, 3) == 1 "elements of a head are neighbours"
//! scalar  scale : f32 = 0.08838834764
//! workspace parts     GRID == UNITS * CLUSTER ? 0 : GRID * ROWS * (HD + 2) * 4 "results of parts"
//! workspace counters  GRID == UNITS * CLUSTER ? 0 : UNITS * CLUSTER * 4  zero "parts that have come"
//! hook    score(f32 x, s32 sequence, s32 head, s32 query, s32 key) : f32 = x "applied to each scaled product; query: the position of the token's own key"
//!
//! reference attention_decode_reference  grid min(B * TOKENS * HEADS, 65536)  block 256  bits 5
#include "device/ptx/cvt.cuh"
#include "device/tile/head_numbers.cuh"

#ifdef TMA_JIT_REFERENCE
// A block computes one head of one token at a time, from the weights of 256 keys at a time. `length(sequence)` is the
// number of keys of a sequence, and `offset(tensor, sequence, key)` where the key's row is, of head 0; negative where
// there is none, which reads as zeros. score_of(x, sequence, head, query, key) is what becomes of a scaled product.
template <class Length, class Offset, class Score>
__device__ inline void reference_attention_decode(const View<const T, 4>& Q, const View<const C, 4>& K,
                                                  const View<const C, 4>& V, const HeadNumbers& numbers,
                                                  const View<f64, 4>& O, const View<f64, 3>& L, f32 scale,
                                                  const Dims& dims, Length length, Offset offset, Score score_of) {
  __shared__ f64 weight[256], query[HD];
  const int d = threadIdx.x;  // the element of the head that this thread computes
  for (s64 i = blockIdx.x; i < s64{dims.B} * dims.TOKENS * dims.HEADS; i += gridDim.x) {
    const s64 head = i % dims.HEADS, token = i / dims.HEADS % dims.TOKENS, sequence = i / dims.HEADS / dims.TOKENS;
    const s64 kv_head = head / (dims.HEADS / dims.KV_HEADS), keys = length(sequence) - (dims.TOKENS - 1 - token);
    if (d < HD)
      query[d] = to_f64(Q.data[sequence * Q.stride[0] + token * Q.stride[1] + head * Q.stride[2] + d * Q.stride[3]]);
    __syncthreads();
    f64 sum = SINKS == 1 ? exp(f64{numbers.sink(head)}) : 0, made = 0;
    for (s64 first = 0; first < keys; first += 256) {
      f64 score = 0;
      const s64 at = first + d < keys ? offset(K, sequence, first + d) : -1;
      for (int e = 0; at >= 0 && e < HD; ++e)
        score += query[e] * to_f64(K.data[at + kv_head * K.stride[2] + e * K.stride[3]]);
      score *= numbers.product_scale(scale, head, kv_head);
      weight[d] = first + d < keys ? exp(score_of(score, sequence, head, keys - 1, first + d)) : 0;
      __syncthreads();
      for (s64 key = first; d < HD && key < min(keys, first + 256); ++key) {
        sum += weight[key - first];
        const s64 row = offset(V, sequence, key);
        if (row >= 0) made += weight[key - first] * to_f64(V.data[row + kv_head * V.stride[2] + d * V.stride[3]]);
      }
      __syncthreads();
    }
    if (d < HD)
      O.data[sequence * O.stride[0] + token * O.stride[1] + head * O.stride[2] + d * O.stride[3]] =
          sum == 0 ? 0 : made / sum * numbers.value_scale(kv_head);
    if (LSE == 1 && d == 0) L.data[sequence * L.stride[0] + token * L.stride[1] + head * L.stride[2]] = log(sum);
    __syncthreads();
  }
}
#endif

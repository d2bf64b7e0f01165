//! kernel  attention_decode  "O = softmax(scale * Q K^T) V of the last tokens of sequences over all their keys, which are in pages that sequences list; a number that is no page's reads as zeros"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {bf16, f16}
//! dim     B               in 0..65535              "sequences"
//! dim     TOKENS          in 1..65535              "queries of a sequence, its last tokens"
//! dim     HEADS, KV_HEADS in 1..32767              "HEADS / KV_HEADS of queries share keys and values"
//! dim     P, SIZE         in 0..2147400000         "pages of keys and values, keys of a page"
//! dim     MAX_PAGES       in 0..2147400000         "pages that a sequence lists"
//!
//! param   HD      = 128   in {64, 128, 256}        "elements of a head"
//! param   RAGGED  = 0     in {0, 1}                "1: sequence b has LENGTHS[b] keys; 0: all fill the pages that they list"
//! param   LSE     = 0     in {0, 1}                "1: L is the logarithm of the sum of e^score, minus infinity without keys"
//! param   RUN     = 16    in {1, 16}               "neighbouring keys that are certainly in one page"
//! param   ROWS    = 16    in {16, 32}              "heads of queries times tokens that a block computes together"
//! param   BN      = 16    in {16, 32}              "keys of a warp's step"
//! param   WARPS   = 4     in {2, 4, 8}
//! param   STAGES  = 2     in {2, 3, 4}             "steps of a warp in flight or in use"
//! param   PARTS   = 0     in {0, 1, 2, 4, 8, 16, 32, 64, 128} "parts of a sequence's keys, on average if RAGGED; 0: as many as the device has room for"
//! param   LEAST   = 128   in {64, 128, 256, 512}   "keys of a part at least, unless it is the only one"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that combine their parts of a sequence through shared memory"
//!
//! let     N       = MAX_PAGES * SIZE               "keys that a sequence has at most"
//! let     THREADS = 32 * WARPS
//! let     RING    = WARPS * STAGES * 2 * BN * HD * sizeof(T)
//! let     RESULTS = ROWS * (WARPS * (HD + 10) + HD + 2) * 4 "in place of the ring"
//! let     SMEM    = align_up(ROWS * HD * sizeof(T) + max(RING, RESULTS), 1024)
//! let     TILES   = KV_HEADS * ceil_div(TOKENS * (HEADS / KV_HEADS), ROWS) "blocks that share a part of a sequence's keys"
//! let     UNITS   = B * TILES                      "what is split into parts"
//! let     ROOM    = device.sm_count * max(1, min(2048 / THREADS, device.smem_per_sm / (SMEM + 2048))) "blocks at a time"
//! let     ONE     = ROOM / max(UNITS, 1)           "parts that fill the device once"
//! let     TWO     = 2 * ROOM / max(UNITS, 1)
//! let     FILLED  = ONE * UNITS * 10 >= 9 * ROOM ? ONE : TWO * UNITS * 10 >= 18 * ROOM ? TWO : 4 * ROOM / max(UNITS, 1)
//! let     WANTED  = max(1, min(PARTS == 0 ? FILLED : PARTS, ceil_div(N, LEAST)))
//! let     EVEN    = WANTED < CLUSTER ? WANTED : WANTED / CLUSTER * CLUSTER "parts of each if all are as long"
//! let     SPARE   = PARTS != 0 ? UNITS * (PARTS - 1) : 4 * UNITS <= ROOM ? ROOM - UNITS : UNITS < 8 * ROOM ? 4 * ROOM : 0 "parts beyond one of each"
//! let     BESIDES = min(SPARE / max(TILES, 1), B * max(0, ceil_div(N, LEAST) - 1))
//! let     ACROSS  = RAGGED == 0 ? B : max(B, ceil_div(B + BESIDES, EVEN))
//! let     GRID    = TILES * ACROSS * EVEN
//!
//! require N <= 2147400000                          "keys of a sequence are counted in 31 bits"
//! require RUN == 1 || SIZE % RUN == 0              "keys that are copied together must be in one page"
//! require CLUSTER == 1 || RAGGED == 0              "a cluster's blocks are parts of one sequence"
//! require CLUSTER <= device.cluster_max            "the device's clusters must be as large"
//! require EVEN % CLUSTER == 0                      "a sequence has whole clusters of parts"
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//! require SMEM + 512 <= device.smem_per_block      "the ring must fit in shared memory"
//! require ROWS * HD <= 4096                        "a warp's sums must fit into registers"
//! require alignment(Q) >= 16 && alignment(K) >= 16 && alignment(V) >= 16 "rows are copied 16 bytes at a time"
//! require stride(Q, 0) % 8 == 0 && stride(Q, 1) % 8 == 0 && stride(Q, 2) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(K, 0) % 8 == 0 && stride(K, 1) % 8 == 0 && stride(K, 2) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(V, 0) % 8 == 0 && stride(V, 1) % 8 == 0 && stride(V, 2) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 3) == 1 && stride(K, 3) == 1 && stride(V, 3) == 1 && stride(O, 3) == 1 "elements of a head are neighbours"
//!
//! tensor  Q : T[B, TOKENS, HEADS, HD]
//! tensor  K : T[P, SIZE, KV_HEADS, HD]
//! tensor  V : T[P, SIZE, KV_HEADS, HD]
//! tensor  PAGES : s32[B, MAX_PAGES]
//! tensor  LENGTHS : s32[B]  when RAGGED == 1
//! tensor  O : T[B, TOKENS, HEADS, HD]  out
//! tensor  L : f32[B, TOKENS, HEADS]  out  when LSE == 1
//! scalar  scale : f32 = 0.08838834764
//! hook    score(f32 x, s32 sequence, s32 head, s32 query, s32 key) : f32 = x "applied to each scaled product; query: the position of the token's own key"
//! workspace parts     GRID == UNITS * CLUSTER ? 0 : GRID * ROWS * (HD + 2) * 4 "results of parts"
//! workspace counters  GRID == UNITS * CLUSTER ? 0 : UNITS * 4  zero "parts that have come"
//!
//! cluster 1, 1, CLUSTER
//! launch  grid TILES, ACROSS, EVEN  block THREADS  smem SMEM
//! work    flops 4 * B * TOKENS * HEADS * N * HD  bytes (2 * B * N * KV_HEADS + 2 * B * TOKENS * HEADS) * HD * sizeof(T)
//! reference attention_decode_reference  grid min(B * TOKENS * HEADS, 65536)  block 256  bits 5
//!
//! preset  HD = 128, BN = 16, STAGES = 3, WARPS = 8, RUN = 16  when device.smem_per_block >= 210000 && HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, BN = 16, STAGES = 2, WARPS = 8, RUN = 16  when device.smem_per_block >= 160000 && HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, BN = 16, STAGES = 2, WARPS = 4, RUN = 16  when HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, BN = 16, STAGES = 3, WARPS = 8, ROWS = 32, RUN = 16  when device.smem_per_block >= 210000 && HD == 128
//! preset  HD = 128, BN = 16, STAGES = 2, WARPS = 8, ROWS = 32, RUN = 16  when device.smem_per_block >= 170000 && HD == 128
//! preset  HD = 128, BN = 16, STAGES = 2, WARPS = 4, ROWS = 32, RUN = 16  when HD == 128
//! preset  HD = 64, BN = 32, STAGES = 3, WARPS = 8, RUN = 16  when device.smem_per_block >= 210000 && HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, BN = 32, STAGES = 2, WARPS = 8, RUN = 16  when device.smem_per_block >= 160000 && HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, BN = 32, STAGES = 2, WARPS = 4, RUN = 16  when HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, BN = 32, STAGES = 3, WARPS = 8, ROWS = 32, RUN = 16  when device.smem_per_block >= 210000 && HD == 64
//! preset  HD = 64, BN = 32, STAGES = 2, WARPS = 8, ROWS = 32, RUN = 16  when device.smem_per_block >= 160000 && HD == 64
//! preset  HD = 64, BN = 32, STAGES = 2, WARPS = 4, ROWS = 32, RUN = 16  when HD == 64
//! preset  HD = 256, BN = 16, STAGES = 3, WARPS = 4, RUN = 16  when device.smem_per_block >= 210000 && HD == 256
//! preset  HD = 256, BN = 16, STAGES = 2, WARPS = 4, RUN = 16  when device.smem_per_block >= 160000 && HD == 256
//! preset  HD = 256, BN = 16, STAGES = 2, WARPS = 2, RUN = 16  when HD == 256
//! preset  HD = 128, BN = 16, STAGES = 3, WARPS = 8, RUN = 1  when device.smem_per_block >= 210000 && HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, BN = 16, STAGES = 2, WARPS = 8, RUN = 1  when device.smem_per_block >= 160000 && HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, BN = 16, STAGES = 2, WARPS = 4, RUN = 1  when HD == 128 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 128, BN = 16, STAGES = 3, WARPS = 8, ROWS = 32, RUN = 1  when device.smem_per_block >= 210000 && HD == 128
//! preset  HD = 128, BN = 16, STAGES = 2, WARPS = 8, ROWS = 32, RUN = 1  when device.smem_per_block >= 170000 && HD == 128
//! preset  HD = 128, BN = 16, STAGES = 2, WARPS = 4, ROWS = 32, RUN = 1  when HD == 128
//! preset  HD = 64, BN = 32, STAGES = 3, WARPS = 8, RUN = 1  when device.smem_per_block >= 210000 && HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, BN = 32, STAGES = 2, WARPS = 8, RUN = 1  when device.smem_per_block >= 160000 && HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, BN = 32, STAGES = 2, WARPS = 4, RUN = 1  when HD == 64 && TOKENS * (HEADS / KV_HEADS) <= 16
//! preset  HD = 64, BN = 32, STAGES = 3, WARPS = 8, ROWS = 32, RUN = 1  when device.smem_per_block >= 210000 && HD == 64
//! preset  HD = 64, BN = 32, STAGES = 2, WARPS = 8, ROWS = 32, RUN = 1  when device.smem_per_block >= 160000 && HD == 64
//! preset  HD = 64, BN = 32, STAGES = 2, WARPS = 4, ROWS = 32, RUN = 1  when HD == 64
//! preset  HD = 256, BN = 16, STAGES = 2, WARPS = 4, RUN = 1  when device.smem_per_block >= 160000 && HD == 256
//! preset  HD = 256, BN = 16, STAGES = 2, WARPS = 2, RUN = 1  when HD == 256

#include "device/epilogue/attention_decode.cuh"
#include "device/pipeline/attention_decode.cuh"
#include "device/reference/attention_decode.cuh"
#include "device/schedule/attention_decode.cuh"
#include "device/tile/shared_memory.cuh"

// Returns how many keys a sequence has.
__device__ inline int length_of(const View<const s32, 1>& LENGTHS, int sequence, const Dims& dims) {
  const int most = dims.MAX_PAGES * dims.SIZE;
  return RAGGED == 0 ? most : max(0, min(most, LENGTHS.data[sequence * LENGTHS.stride[0]]));
}

#ifndef TMA_JIT_REFERENCE

struct Smem {
  SharedTile<T, ROWS, HD> q;
  union {
    Ring ring[WARPS];
    DecodeResults results;
  };
};
static_assert(sizeof(Smem) == SMEM);

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_decode(View<const T, 4> Q, View<const T, 4> K,
                                                                          View<const T, 4> V, View<const s32, 2> PAGES,
                                                                          View<const s32, 1> LENGTHS, View<T, 4> O,
                                                                          View<f32, 3> L, u8* parts, u8* counters,
                                                                          f32 scale, const Dims dims,
                                                                          const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  __shared__ DecodeWork kept;
  DecodeWork work(dims, [&](int sequence) { return length_of(LENGTHS, sequence, dims); });
  if (work.part >= work.parts) return;
  const PagedKeys<RUN> table = {PAGES.data + work.sequence * PAGES.stride[0], PAGES.stride[1], dims.SIZE, dims.P};
  KeyCopy<PagedKeys<RUN>, T, BN, HD> copy(table, K, V, work.kv_head, work.keys);
  OnlineSoftmax<Scores> softmax(1);
  Values values = {};
  attend(smem.q, Q, smem.ring[threadIdx.x / 32], copy, work, kept, dims, scale, hooks, softmax, values);
  finish(smem.results, softmax, values, kept,
         {O, L, reinterpret_cast<BlockPart*>(parts), reinterpret_cast<u32*>(counters)});
}

#else

extern "C" __global__ void attention_decode_reference(View<const T, 4> Q, View<const T, 4> K, View<const T, 4> V,
                                                      View<const s32, 2> PAGES, View<const s32, 1> LENGTHS,
                                                      View<f64, 4> O, View<f64, 3> L, f32 scale, const Dims dims,
                                                      const __grid_constant__ Hooks hooks) {
  const auto length = [&](s64 sequence) { return length_of(LENGTHS, sequence, dims); };
  const auto offset = [&](const View<const T, 4>& tensor, s64 sequence, s64 key) {
    const s64 page = PAGES.data[sequence * PAGES.stride[0] + key / dims.SIZE * PAGES.stride[1]];
    return page >= 0 && page < dims.P ? page * tensor.stride[0] + key % dims.SIZE * tensor.stride[1] : -1;
  };
  const auto score = [&](f64 x, s64 sequence, s64 head, s64 query, s64 key) {
    return hooks.score(x, sequence, head, query, key);
  };
  reference_attention_decode(Q, K, V, O, L, scale, dims, length, offset, score);
}

#endif

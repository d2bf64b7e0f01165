//! kernel  attention_decode_latent  "latent attention of the last tokens of sequences, absorbed: O = softmax(scale * Q C^T) of the first 512 columns of C, a cache of rows that all heads share, in pages that sequences list; a number that is no page's reads as zeros"
//! arch    sm_90a
//! prefer  1
//! use     "device/reference/attention_latent.cuh"
//!
//! param   RUN     = 64    in {64, 32, 16, 8}       "neighbouring keys that are certainly in one page"
//! param   PARTS   = 0     in {0, 1, 2, 4, 8, 16, 32, 64, 128} "parts of a sequence's keys, on average if RAGGED; 0: as many as the device has room for"
//! param   LEAST   = 128   in {64, 128, 256, 512, 1024} "keys of a part at least, unless it is the only one"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that combine their parts of a sequence through shared memory"
//!
//! let     ROWS    = 64                             "heads of queries times tokens that a block computes together"
//! let     BN      = 64                             "keys of a step"
//! let     WARPS   = 1                              "steps that a block computes at a time"
//! let     THREADS = 384
//! let     SMEM    = align_up((ROWS + 2 * BN) * KD * sizeof(T) + 16 * ROWS + 96, 1024)
//! let     TILES   = ceil_div(TOKENS * HEADS, ROWS) "blocks that share a part of a sequence's keys"
//! let     UNITS   = B * TILES                      "what is split into parts"
//! let     ROOM    = CLUSTER <= 2 ? device.sm_count : device.sm_count * 3 / 4 "blocks at a time: larger clusters leave some processors idle"
//! let     ONE     = ROOM / max(UNITS, 1)           "parts that fill the device once"
//! let     TWO     = 2 * ROOM / max(UNITS, 1)
//! let     FILLED  = ONE * UNITS * 10 >= 9 * ROOM || UNITS * 8 < ROOM ? ONE : TWO * UNITS * 10 >= 18 * ROOM ? TWO : 4 * ROOM / max(UNITS, 1)
//! let     WANTED  = max(1, min(PARTS == 0 ? FILLED : PARTS, ceil_div(N, LEAST)))
//! let     EVEN    = max(WANTED / CLUSTER, 1) * CLUSTER "parts of each if all are as long"
//! let     SPARE   = PARTS != 0 ? UNITS * (PARTS - 1) : 4 * UNITS <= ROOM ? ROOM - UNITS : UNITS < ROOM ? 2 * ROOM : 0 "parts beyond one of each"
//! let     BESIDES = min(SPARE / max(TILES, 1), B * max(0, ceil_div(N, LEAST) - 1))
//! let     ACROSS  = RAGGED == 0 ? B : max(B, (B + BESIDES) / EVEN)
//! let     GRID    = TILES * ACROSS * EVEN
//!
//! require SIZE % RUN == 0                          "keys that are copied together must be in one page"
//! require P > 0 || N == 0                          "TMA has no map of a cache without pages"
//! require CLUSTER <= device.cluster_max            "the device's clusters must be as large"
//! require SMEM + 512 <= device.smem_per_block      "the queries and the keys of two steps must fit in shared memory"
//! require stride(Q, 3) == 1 && stride(O, 3) == 1 "elements of a head are neighbours"
//!
//! tensor  C  box [1, RUN, 64]  swizzle 128  l2 256
//! workspace parts     GRID == UNITS * CLUSTER ? 0 : GRID * ROWS * (HD + 2) * 4 "results of parts"
//! workspace counters  GRID == UNITS * CLUSTER ? 0 : UNITS * CLUSTER * 4  zero "parts that have come"
//!
//! cluster 1, 1, CLUSTER
//! launch  grid TILES, ACROSS, EVEN  block THREADS  smem SMEM
//! work    flops 2 * B * TOKENS * HEADS * N * (KD + HD)  bytes (B * N * KD + B * TOKENS * HEADS * (KD + HD)) * sizeof(T)
//!
//! preset  CLUSTER = 4, LEAST = 128   when UNITS * 16 <= ROOM && WANTED >= 4
//! preset  CLUSTER = 2, LEAST = 128   when UNITS * 2 <= ROOM && WANTED >= 2
//! preset  CLUSTER = 1, LEAST = 1024

#include "device/reference/attention_latent.cuh"
#include "device/schedule/attention_decode.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/epilogue/attention_latent.cuh"
#include "device/pipeline/attention_latent.cuh"

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_decode_latent(
    View<const T, 4> Q, const __grid_constant__ CUtensorMap C, View<const s32, 2> PAGES, View<const s32, 1> LENGTHS,
    View<T, 4> O, View<f32, 3> L, u8* parts, u8* counters, f32 scale, const Dims dims) {
  Smem& smem = shared_memory<Smem>();
  DecodeWork work(dims, [&](int sequence) { return length_of(LENGTHS, sequence, dims); });
  if (work.part >= work.parts) return;
  if (threadIdx.x == kConsumers) {
    if (work.keys > 0) tma::prefetch(C);
    smem.half[0].init(1);
    smem.half[1].init(1);
    smem.rest.init(1);
  }
  __syncthreads();
  if (threadIdx.x >= kConsumers) {
    give_registers<40>();
    const PagedKeys<RUN> table = {PAGES.data + work.sequence * PAGES.stride[0], PAGES.stride[1], dims.SIZE, dims.P};
    if (threadIdx.x < kConsumers + 32) load_latent(smem, C, table, work);
    return;
  }
  take_registers<232>();
  work.find_rows(dims);
  copy_queries<kConsumers>(smem.q, Q, work);
  tma::fence();
  sync(5, kConsumers);
  LatentAttention<DecodeWork> attention(smem, work, scale, dims.TOKENS);
  attention.attend();
  attention.store();
  combine_latent<kConsumers>(smem.part, work,
                             {O, L, {}, reinterpret_cast<BlockPart*>(parts), reinterpret_cast<u32*>(counters)},
                             [] { sync(5, kConsumers); });
}

#endif

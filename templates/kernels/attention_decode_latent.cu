//! kernel  attention_decode_latent  "latent attention of the last tokens of sequences, absorbed: O = softmax(scale * Q C^T) of the first 512 columns of C, a cache of rows that all heads share, in pages that sequences list; a number that is no page's reads as zeros"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/attention_latent.cuh"
//!
//! param   ROWS    = 16    in {16, 32}              "heads of queries times tokens that a block computes together"
//! param   BN      = 32    in {16, 32}              "keys of a step"
//! param   STAGES  = 2     in {2, 3}                "steps in flight or in use"
//! param   PARTS   = 0     in {0, 1, 2, 4, 8, 16, 32, 64, 128} "parts of a sequence's keys, on average if RAGGED; 0: as many as the device has room for"
//! param   LEAST   = 128   in {64, 128, 256, 512}   "keys of a part at least, unless it is the only one"
//!
//! let     CLUSTER = 1                              "blocks that combine their parts of a sequence through shared memory"
//! let     WARPS   = 1                              "steps that a block computes at a time"
//! let     THREADS = 128
//! let     RING    = STAGES * BN * KD * sizeof(E)
//! let     PART    = ROWS * (HD + 10) * 4           "in place of the ring"
//! let     SMEM    = align_up(ROWS * KD * sizeof(T) + max(RING, PART) + 16 * ROWS * BN, 1024)
//! let     TILES   = ceil_div(TOKENS * HEADS, ROWS) "blocks that share a part of a sequence's keys"
//! let     UNITS   = B * TILES                      "what is split into parts"
//! let     ROOM    = device.sm_count * max(1, device.smem_per_sm / (SMEM + 2048)) "blocks at a time"
//! let     ONE     = ROOM / max(UNITS, 1)           "parts that fill the device once"
//! let     TWO     = 2 * ROOM / max(UNITS, 1)
//! let     FILLED  = ONE * UNITS * 10 >= 9 * ROOM || UNITS * 8 < ROOM ? ONE : TWO * UNITS * 10 >= 18 * ROOM ? TWO : 4 * ROOM / max(UNITS, 1)
//! let     WANTED  = max(1, min(PARTS == 0 ? FILLED : PARTS, ceil_div(N, LEAST)))
//! let     SPARE   = PARTS != 0 ? UNITS * (PARTS - 1) : 4 * UNITS <= ROOM ? ROOM - UNITS : UNITS < 8 * ROOM ? 4 * ROOM : 0 "parts beyond one of each"
//! let     BESIDES = min(SPARE / max(TILES, 1), B * max(0, ceil_div(N, LEAST) - 1))
//! let     ACROSS  = RAGGED == 0 ? B : max(B, ceil_div(B + BESIDES, WANTED))
//! let     GRID    = TILES * ACROSS * WANTED
//!
//! require SMEM + 512 <= device.smem_per_block      "the queries and the ring of keys must fit in shared memory"
//! require alignment(C) >= 16 && (stride(C, 0) | stride(C, 1)) * sizeof(E) % 16 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 3) == 1 && stride(C, 2) == 1 && stride(O, 3) == 1 "elements of a head are neighbours"
//!
//! workspace parts     GRID == UNITS ? 0 : GRID * ROWS * (HD + 2) * 4 "results of parts"
//! workspace counters  GRID == UNITS ? 0 : UNITS * 4  zero "parts that have come"
//!
//! launch  grid TILES, ACROSS, WANTED  block THREADS  smem SMEM
//! work    flops 2 * B * TOKENS * HEADS * N * (KD + HD)  bytes B * N * KD * sizeof(E) + B * TOKENS * HEADS * (KD + HD) * sizeof(T)
//!
//! preset  ROWS = 32, BN = 32  when device.smem_per_block >= 140000 && TOKENS * HEADS > 16
//! preset  ROWS = 16, BN = 32

#include "device/epilogue/attention_latent.cuh"
#include "device/pipeline/cp_async_pipeline.cuh"
#include "device/pipeline/key_copy.cuh"
#include "device/pipeline/latent_queries.cuh"
#include "device/reference/attention_latent.cuh"
#include "device/schedule/attention_decode.cuh"
#include "device/tile/mma_e4m3_tile.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kWarps = THREADS / 32, kPart = HD / kWarps;

using Keys = SharedTile<E, BN, KD>;
using Scores = RegisterTile<layout::Mma<ROWS, BN>>;
using Values = RegisterTile<layout::Mma<ROWS, kPart>>;  // of a warp

struct Smem {
  SharedTile<T, ROWS, KD> q;
  union {
    Keys k[STAGES];
    WarpPart part;
  };
  float4 scores[kWarps][Scores::Layout::kRegisters / 4][32];  // over each warp's part of KD, as its lanes hold them
};
static_assert(sizeof(Smem) <= SMEM);

// Starts copying the keys of a step; each lane has looked up the row of one. Rows beyond the sequence's keys, which
// have the page -1, become zeros, as do those of pages that do not exist.
__device__ inline void copy_keys(Keys& to, const View<const E, 3>& C, const PagedKeys<1>& table, const Place& place) {
  constexpr int kElements = 16 / sizeof(E);  // of a lane at a time
  const int lane = threadIdx.x % 32;
#pragma unroll 2
  for (int row = threadIdx.x / 32; row < BN; row += kWarps) {
    const int page = __shfl_sync(0xffffffff, place.page, row), at = __shfl_sync(0xffffffff, place.row, row);
    const E* const from = C.data + page * C.stride[0] + at * C.stride[1];
    for (int column = lane * kElements; column < KD; column += 32 * kElements)
      cp_async::cg(smem_address(&to.at(row, column)), from + column, table.has(page) ? 16 : 0);
  }
}

// Computes the scores of a step. Each warp multiplies every fourth 32 bytes of KD, and adds what all have made in the
// same order.
__device__ inline void score(Scores& s, Smem& smem, const Keys& k) {
  constexpr int kDepth = 32 / sizeof(E), kQuads = Scores::Layout::kRegisters / 4;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  s.fill(0);
#pragma unroll 3  // all at once take the registers of the sums
  for (int column = warp * kDepth; column < KD; column += kWarps * kDepth) mma::multiply_at(s, smem.q, 0, k, column);
#pragma unroll
  for (int i = 0; i < kQuads; ++i)
    smem.scores[warp][i][lane] = make_float4(s.x[i * 4], s.x[i * 4 + 1], s.x[i * 4 + 2], s.x[i * 4 + 3]);
  __syncthreads();
  s.fill(0);
#pragma unroll
  for (int w = 0; w < kWarps; ++w)
#pragma unroll
    for (int i = 0; i < kQuads; ++i) {
      const float4 x = smem.scores[w][i][lane];
      s.x[i * 4] += x.x, s.x[i * 4 + 1] += x.y, s.x[i * 4 + 2] += x.z, s.x[i * 4 + 3] += x.w;
    }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_decode_latent(
    View<const T, 4> Q, View<const E, 3> C, View<const s32, 2> PAGES, View<const s32, 1> LENGTHS, View<const f32, 1> SC,
    View<T, 4> O, View<f32, 3> L, u8* parts, u8* counters, f32 scale, const Dims dims) {
  using Layout = Scores::Layout;
  const HeadNumbers numbers = numbers_of(SC);
  scale = numbers.product_scale(scale, 0, 0);
  Smem& smem = shared_memory<Smem>();
  __shared__ int last[ROWS];  // key that each row sees
  DecodeWork work(dims, [&](int sequence) { return length_of(LENGTHS, sequence, dims); });
  if (work.part >= work.parts) return;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const PagedKeys<1> table = {PAGES.data + work.sequence * PAGES.stride[0], PAGES.stride[1], dims.SIZE, dims.P};
  const auto look_up = [&](int round) {
    const int key = work.key(round, 0) + lane;
    return lane < BN && round < work.rounds.end && key < work.keys ? table.place(key) : Place{-1, 0};
  };
  work.find_rows(dims);
  copy_queries<THREADS>(smem.q, Q, work);
  if (threadIdx.x < ROWS) last[threadIdx.x] = work.query(min(int(threadIdx.x), work.rows - 1));
  CpAsyncPipeline<STAGES> pipeline;
  Place place = look_up(work.rounds.first);
  const auto copy = [&](int round) {
    const Place ahead = look_up(round + 1);
    if (round < work.rounds.end) copy_keys(smem.k[pipeline.acquire()], C, table, place);
    pipeline.commit();
    place = ahead;
  };
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; ++i) copy(work.rounds.first + i);
  OnlineSoftmax<Scores> softmax(fabsf(scale));
  Values values = {};
#pragma unroll 1
  for (int round = work.rounds.first; round < work.rounds.end; ++round) {
    const Keys& k = smem.k[pipeline.wait()];
    copy(round + STAGES - 1);
    Scores s;
    score(s, smem, k);
    const int first = work.key(round, 0);
#pragma unroll
    for (int i = 0; i < Layout::kRegisters; ++i) {
      const bool sees = first + Layout::column(i) <= last[Layout::row(Layout::slot(i))];
      s.x[i] = !sees ? softmax.kMasked : scale < 0 ? -s.x[i] : s.x[i];
    }
    values.map_rows(softmax.weigh(s), [](f32 x, f32 factor) { return x * factor; });
    mma::multiply_rounded(
        values, s,
        reinterpret_cast<const SharedTile<E, BN, kPart, Keys::kSwizzle>&>(k.panel[warp * (kPart / Keys::kPanel)]));
  }
  cp_async::wait_all();
  __syncthreads();  // the ring is free for the results
  smem.part.store(0, warp * kPart, mma::in_order<E>(values), softmax.scaled_greatest(), softmax.sums());
  combine_latent<THREADS>(smem.part, work,
                          {O, L, numbers, reinterpret_cast<BlockPart*>(parts), reinterpret_cast<u32*>(counters)},
                          [] { __syncthreads(); });
}

#endif

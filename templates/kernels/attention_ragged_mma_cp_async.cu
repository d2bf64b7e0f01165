//! kernel  attention_ragged  "O = softmax(scale * Q K^T) V for each head of sequences of different lengths that lie one after the other, CU[b] queries and CUK[b] keys before sequence b"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/attention_ragged.cuh"
//!
//! param   HD      = 64    in {64, 128}             "elements of a head"
//! param   BM      = 64    in {64, 128}             "queries of a block: 16 a warp"
//! param   BN      = 64    in {32, 64}              "keys of a step"
//! param   STAGES  = 2     in {2, 3}                "steps of keys and values in flight or in use"
//!
//! let     THREADS = 2 * BM
//! let     SMEM    = (BM + 2 * STAGES * BN) * HD * sizeof(T)
//! let     BLOCKS  = BATCH * HEADS * ceil_div(LONGEST, BM) "those beyond the end of a sequence leave at once"
//!
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require alignment(Q) >= 16 && alignment(K) >= 16 && alignment(V) >= 16 "rows are copied 16 bytes at a time"
//! require stride(Q, 1) % 8 == 0 && stride(K, 1) % 8 == 0 && stride(V, 1) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 0) % 8 == 0 && stride(K, 0) % 8 == 0 && stride(V, 0) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 2) == 1 && stride(K, 2) == 1 && stride(V, 2) == 1 "elements of a head are neighbours"
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 4 * HEADS * M * (N / max(1, BATCH)) * HD / (1 + CAUSAL)  bytes (2 * HEADS * M + 2 * KV_HEADS * N) * HD * sizeof(T)
//! reference attention_ragged_reference  grid min(BATCH * HEADS * LONGEST, 65536)  block max(128, HD)  bits 5
//!
//! preset  HD = 64, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 128, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 64, CAUSAL = 1, BM = 64, BN = 64, STAGES = 2

#include "device/epilogue/log_sums.cuh"
#include "device/epilogue/store_tile.cuh"
#include "device/pipeline/attention_steps.cuh"
#include "device/pipeline/cp_async_pipeline.cuh"
#include "device/reference/attention_ragged.cuh"
#include "device/schedule/attention_ragged.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/cp_async_tile.cuh"
#include "device/tile/mma_tile.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Work = RaggedAttentionTile<BM, BN>;
using Scores = RegisterTile<layout::Mma<16, BN>>;
using Output = RegisterTile<layout::Mma<16, HD>>;

struct Smem {
  SharedTile<T, BM, HD> q;
  SharedTile<T, BN, HD> k[STAGES], v[STAGES];
};
static_assert(sizeof(Smem) == SMEM);

// Starts copying the rows from `row` on, and fills the tile with zeros after the last of `rows`.
template <int Rows>
__device__ inline void copy_rows(SharedTile<T, Rows, HD>& to, const View<const T, 2>& from, int row, int rows) {
#pragma unroll
  for (int p = 0; p < HD / 64; ++p) {
    cp_async::TileCopy<SharedTile<T, Rows, 64>, THREADS, 16> copy;
    copy.start({from.data + p * 64, {from.stride[0], from.stride[1]}}, row, rows, 64);
#pragma unroll
    for (int i = 0; i < copy.kPasses; ++i) copy.copy(to.part(p), i);
  }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_ragged(View<const T, 3> Q, View<const T, 3> K,
                                                                          View<const T, 3> V, View<const s32, 1> CU,
                                                                          View<const s32, 1> CUK, View<T, 3> O,
                                                                          View<f32, 2> L, f32 scale, const Dims dims,
                                                                          const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const RaggedAttentionTiles<BM, BN> tiles(dims, CU, CUK);
  if (!tiles.more()) return;
  const Work work = tiles.work();
  const View<const T, 2> keys = work.rows_of(K, work.key, work.kv_head);
  const View<const T, 2> values = work.rows_of(V, work.key, work.kv_head);
  const int row = threadIdx.x / 32 * 16;

  CpAsyncPipeline<STAGES> pipeline;
  const ScoreHooks<Work> scores = {hooks, work};
  const auto load = [&](int step) {
    const u32 slot = pipeline.acquire();
    if (step >= 0) {
      copy_rows(smem.k[slot], keys, step * BN, work.keys);
      copy_rows(smem.v[slot], values, step * BN, work.keys);
    }
    pipeline.commit();
  };
  copy_rows(smem.q, work.rows_of(Q, work.row, work.own_head), work.first, work.queries);
  using Seen = SeenSteps<BN, TileMask<Work>>;
  AheadSteps<STAGES - 1, kMaskGiven, Seen> steps(work.steps, Seen(work.steps, work.keys, {hooks, work}));
  for (int i = 0; i < STAGES - 1; ++i) load(steps.fetch());

  OnlineSoftmax<Scores> softmax(1);
  Output o = {};
#pragma unroll 1
  while (steps.more()) {
    const u32 slot = pipeline.wait();
    load(steps.fetch());
    Scores s = {};
    mma::multiply(s, smem.q, row, smem.k[slot]);
    scores.apply(s, scale, row, steps.current() * BN, steps.whole(), softmax.kMasked);
    o.map_rows(softmax.weigh(s), [](f32 x, f32 factor) { return x * factor; });
    mma::multiply_rounded(o, s, smem.v[slot]);
  }
  o.map_rows(softmax.inverse_sums(), [](f32 x, f32 factor) { return x * factor; });
  if constexpr (LSE) store_log_sums(work.log_sums_of(L), softmax, work, row);

  cp_async::wait_all();  // without keys, the copy of the queries may be incomplete
  __syncthreads();
  store(smem.q, row, 0, o);
  __syncthreads();
  const View<T, 2> out = work.rows_of(O, work.row, work.own_head);
  store_rows<THREADS>(out, smem.q, {work.queries, HD}, work.first, 0, threadIdx.x, rows_of_16_bytes(out));
}

#endif

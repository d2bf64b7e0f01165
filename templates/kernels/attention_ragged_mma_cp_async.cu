//! kernel  attention_ragged  "O = softmax(scale * Q K^T) V for each head of sequences of different lengths that lie one after the other, CU[b] queries and CUK[b] keys before sequence b"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/attention_ragged.cuh"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   BM      = 64    in {64, 128}             "queries of a block: 16 a warp"
//! param   BN      = 64    in {32, 64}              "keys of a step"
//! param   STAGES  = 2     in {2, 3}                "steps of keys and values in flight or in use"
//!
//! let     THREADS = 2 * BM
//! let     SMEM    = (BM * HD + STAGES * BN * (HD + DV)) * sizeof(T)
//! let     BLOCKS  = BATCH * HEADS * ceil_div(LONGEST, BM) "those beyond the end of a sequence leave at once"
//!
//! require DV <= HD                             "a result takes the place of its query"
//! require DV + BN <= 288                       "output and scores must fit in registers"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require HD % 64 == 0 && DV % 64 == 0 || BN * 4 >= THREADS "a copy of a panel takes all threads"
//! require alignment(Q) >= 16 && alignment(K) >= 16 && alignment(V) >= 16 "rows are copied 16 bytes at a time"
//! require stride(Q, 1) % 8 == 0 && stride(K, 1) % 8 == 0 && stride(V, 1) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 0) % 8 == 0 && stride(K, 0) % 8 == 0 && stride(V, 0) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 2) == 1 && stride(K, 2) == 1 && stride(V, 2) == 1 "elements of a head are neighbours"
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 2 * HEADS * M * (N / max(1, BATCH)) * (HD + DV) / (1 + CAUSAL)  bytes (HEADS * M + KV_HEADS * N) * (HD + DV) * sizeof(T)
//! reference attention_ragged_reference  grid min(BATCH * HEADS * LONGEST, 65536)  block max(128, HD)  bits 5
//!
//! preset  HD = 64, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 128, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 64, CAUSAL = 1, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 32, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 96, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 192, BM = 64, BN = 32, STAGES = 2                               when VD != 128
//! preset  HD = 192, VD = 128, BM = 64, BN = 32, STAGES = 2
//! preset  HD = 256, BM = 64, BN = 32, STAGES = 2

#include "device/epilogue/log_sums.cuh"
#include "device/epilogue/store_tile.cuh"
#include "device/pipeline/attention_mma_cp_async.cuh"
#include "device/reference/attention_ragged.cuh"
#include "device/schedule/attention_ragged.cuh"
#include "device/tile/register_store.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_ragged(View<const T, 3> Q, View<const T, 3> K,
                                                                          View<const T, 3> V, View<const s32, 1> CU,
                                                                          View<const s32, 1> CUK,
                                                                          View<const f32, 1> SINK, View<T, 3> O,
                                                                          View<f32, 2> L, f32 scale, const Dims dims,
                                                                          const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const RaggedAttentionTiles<BM, BN> tiles(dims, Sequences{CU, CUK, dims});
  if (!tiles.more()) return;
  const auto work = tiles.work();
  OnlineSoftmax<Scores> softmax(1, HeadNumbers{{}, {}, {}, SINK, static_cast<int>(dims.HEADS)}.sink(work.own_head));
  Output o = {};
  const HeadRows source = {work.rows_of(K, work.key, work.kv_head), work.rows_of(V, work.key, work.kv_head), work.keys};
  attend(smem, work, work.rows_of(Q, work.row, work.own_head), source, scale, hooks, softmax, o);

  const int row = threadIdx.x / 32 * 16;
  if constexpr (LSE) store_log_sums(work.log_sums_of(L), softmax, work, row);
  store(smem.results(), row, 0, o);
  __syncthreads();
  const View<T, 2> out = work.rows_of(O, work.row, work.own_head);
  store_rows<THREADS>(out, smem.results(), {work.queries, DV}, work.first, 0, threadIdx.x, rows_of_16_bytes(out));
}

#endif

//! kernel  attention_ragged_backward "the gradients of attention_ragged: of sequences of different lengths that lie one after the other, CU[b] queries and CUK[b] keys before sequence b"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  -2
//! use     "device/reference/attention_ragged_backward.cuh"
//!
//! param   ATOMIC  = 0     in {0, 1} asked          "1: DQ may be summed in any order; this file has one order only"
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   TILE    = 64    in {64, 128}             "keys, or queries, of a block: 16 a warp"
//! param   STEP    = 32    in {16, 32, 64}          "queries, or keys, of a step"
//! param   PARTS   = 1     in {1, 2}                "blocks that share the columns of a tile of keys"
//!
//! let     THREADS = 2 * TILE
//! let     SMEM    = align_up((TILE + 2 * STEP) * (HD + HV) * sizeof(T) + 16 * STEP, 1024)
//! let     KEYED   = BATCH == 0 ? 0 : KV_HEADS * (N / TILE + BATCH) * PARTS "blocks of keys; those for which there is no tile leave at once"
//! let     BLOCKS  = KEYED + (BATCH == 0 ? 0 : HEADS * (M / TILE + BATCH))
//!
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require STEP * (HD % 64 == 0 && HV % 64 == 0 ? 8 : 4) >= THREADS "a copy of a panel takes all threads"
//! require HD / 2 / PARTS + HV / 2 / PARTS + STEP <= 168 && HD / 2 + STEP <= 168 "gradients, scores and weights must fit in registers"
//! require HD / PARTS % 32 == 0 && HV / PARTS % 32 == 0 "a part has whole panels"
//! require alignment(Q) >= 16 && alignment(K) >= 16 && alignment(V) >= 16 && alignment(DO) >= 16 "rows are copied 16 bytes at a time"
//! require stride(Q, 0) % 8 == 0 && stride(K, 0) % 8 == 0 && stride(V, 0) % 8 == 0 && stride(DO, 0) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 1) % 8 == 0 && stride(K, 1) % 8 == 0 && stride(V, 1) % 8 == 0 && stride(DO, 1) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 2) == 1 && stride(K, 2) == 1 && stride(V, 2) == 1 && stride(DO, 2) == 1 "elements of a head are neighbours"
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops HEADS * M * (N / max(1, BATCH)) * (6 * HD + 4 * HV) / (1 + CAUSAL)  bytes ((2 * HEADS * M + 2 * KV_HEADS * N) * HD + (HEADS * M + 2 * KV_HEADS * N) * HV) * sizeof(T) + 8 * HEADS * M
//! reference attention_ragged_backward_reference  grid 1024  block 256  bits 3
//!
//! preset  STEP = 64              when HD <= 64
//! preset  STEP = 32              when HD <= 128
//! preset  STEP = 32, PARTS = 2   when HD == 192
//! preset  STEP = 16, PARTS = 2   when HD == 256

#include "device/epilogue/store_tile.cuh"
#include "device/pipeline/attention_backward_mma_cp_async.cuh"
#include "device/reference/attention_ragged_backward.cuh"
#include "device/schedule/attention_ragged_backward.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_ragged_backward(
    View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V, View<const T, 3> DO, View<const s32, 1> CU,
    View<const s32, 1> CUK, View<const f32, 2> L, View<const f32, 2> DELTA, View<T, 3> DQ, View<T, 3> DK, View<T, 3> DV,
    f32 scale, const Dims dims, const __grid_constant__ Hooks hooks) {
  auto& smem = shared_memory<Smem<T>>();
  const Tensors<T> tensors = {Q, K, V, {}, DO, L, DELTA, DQ, DK, DV};
  const SequencePlaces<TILE> keys(CUK, dims.BATCH, dims.N), queries(CU, dims.BATCH, dims.M);
  const int keyed = keys.count() * dims.KV_HEADS * PARTS, index = blockIdx.x;
  if (index < keyed) {
    const int place = index / PARTS / dims.KV_HEADS, sequence = keys.sequence_of(place);
    const RaggedKeyTile<TILE, STEP> work(dims, CU, CUK, sequence, place - keys.first(sequence),
                                         index / PARTS % dims.KV_HEADS);
    if (work.exists()) make_key_gradients(smem, work, tensors, scale, hooks, RowsStore<THREADS>{}, index % PARTS);
  } else {
    const int place = (index - keyed) / dims.HEADS, sequence = queries.sequence_of(place);
    const RaggedQueryTile<TILE, STEP> work(dims, CU, CUK, sequence, place - queries.first(sequence),
                                           (index - keyed) % dims.HEADS);
    if (work.exists()) make_query_gradients(smem, work, tensors, scale, hooks, RowsStore<THREADS>{});
  }
}

#endif

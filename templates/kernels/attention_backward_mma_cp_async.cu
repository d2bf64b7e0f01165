//! kernel  attention_backward "the gradients of O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours: DQ, DK and DV from DO"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  -2
//! use     "device/reference/attention_backward.cuh"
//!
//! param   ATOMIC  = 0     in {0, 1} asked          "1: DQ may be summed in any order; this file has one order only"
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   TILE    = 64    in {64, 128}             "keys, or queries, of a block: 16 a warp"
//! param   STEP    = 32    in {16, 32, 64}          "queries, or keys, of a step"
//! param   PARTS   = 1     in {1, 2}                "blocks that share the columns of a tile of keys"
//!
//! let     THREADS = 2 * TILE
//! let     COUNT   = 16 / sizeof(T)                 "elements that are copied at a time"
//! let     SMEM    = align_up((TILE + 2 * STEP) * (HD + HV) * sizeof(R) + 16 * STEP, 1024)
//! let     KEYED   = KV_HEADS * ceil_div(N, TILE) * PARTS "blocks of keys"
//!
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require STEP * (HD % 64 == 0 && HV % 64 == 0 ? 8 : 4) >= THREADS "a copy of a panel takes all threads"
//! require HD / 2 / PARTS + HV / 2 / PARTS + STEP <= 168 && HD / 2 + STEP <= 168 "gradients, scores and weights must fit in registers"
//! require HD / PARTS % 32 == 0 && HV / PARTS % 32 == 0 "a part has whole panels"
//! require alignment(Q) >= 16 && alignment(K) >= 16 && alignment(V) >= 16 && alignment(DO) >= 16 "rows are copied 16 bytes at a time"
//! require stride(Q, 0) % COUNT == 0 && stride(K, 0) % COUNT == 0 && stride(V, 0) % COUNT == 0 && stride(DO, 0) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 1) % COUNT == 0 && stride(K, 1) % COUNT == 0 && stride(V, 1) % COUNT == 0 && stride(DO, 1) % 8 == 0 "rows are copied 16 bytes at a time"
//! require stride(Q, 2) == 1 && stride(K, 2) == 1 && stride(V, 2) == 1 && stride(DO, 2) == 1 "elements of a head are neighbours"
//!
//! launch  grid KEYED + HEADS * ceil_div(M, TILE)  block THREADS  smem SMEM
//! work    flops HEADS * M * N * (6 * HD + 4 * HV) / (1 + CAUSAL)  bytes (HEADS * M + KV_HEADS * N) * HD * (sizeof(T) + sizeof(R)) + HEADS * M * HV * sizeof(R) + KV_HEADS * N * HV * (sizeof(T) + sizeof(R)) + 8 * HEADS * M
//! reference attention_backward_reference  grid min(HEADS * M + KV_HEADS * N, 65536)  block 256  bits 3
//!
//! preset  STEP = 64              when HD <= 64
//! preset  STEP = 32              when HD <= 128
//! preset  STEP = 16, PARTS = 2   when HD == 192 && sizeof(T) == 1
//! preset  STEP = 32, PARTS = 2   when HD == 192
//! preset  STEP = 16, PARTS = 2   when HD == 256

#include "device/epilogue/store_tile.cuh"
#include "device/pipeline/attention_backward_mma_cp_async.cuh"
#include "device/reference/attention_backward.cuh"
#include "device/schedule/attention_backward.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_backward(
    View<const T, 3> Q, View<const T, 3> K, View<const T, 3> V, View<const f32, 1> SQ, View<const f32, 1> SK,
    View<const f32, 1> SV, View<const R, 3> DO, View<const f32, 2> L, View<const f32, 2> DELTA, View<R, 3> DQ,
    View<R, 3> DK, View<R, 3> DV, f32 scale, const Dims dims, const __grid_constant__ Hooks hooks) {
  auto& smem = shared_memory<Smem<R>>();
  const Tensors<R> tensors = {Q, K, V, {SQ, SK, SV, {}, 1}, DO, L, DELTA, DQ, DK, DV};
  const AttentionKeyOrder<TILE, STEP> keys(dims);
  const int index = blockIdx.x, keyed = keys.count(dims) * PARTS;
  if (index < keyed)
    make_key_gradients(smem, keys.tile(dims, index / PARTS), tensors, scale, hooks, RowsStore<THREADS>{},
                       index % PARTS);
  else
    make_query_gradients(smem, AttentionQueryOrder<TILE, STEP>(dims)[index - keyed], tensors, scale, hooks,
                         RowsStore<THREADS>{});
}

#endif

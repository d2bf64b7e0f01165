//! kernel  attention_ragged  "O = softmax(scale * Q K^T) V for each head of sequences of different lengths that lie one after the other, CU[b] queries and CUK[b] keys before sequence b"
//! arch    sm_90a
//! use     "device/reference/attention_ragged.cuh"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   BM      = 128   in {64, 128, 192}        "queries of a block: 64 a warpgroup"
//! param   BN      = 128   in {32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256} "keys of a step"
//! param   STAGES  = 2     in 1..4                  "steps of keys, and of values, in flight or in use"
//!
//! let     CONSUMERS = BM / 64
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     SLOTS   = CONSUMERS                      "of queries and outputs"
//! let     PANEL   = HD % 64 == 0 ? 64 : 32         "elements of a swizzle row"
//! let     SMEM    = align_up((64 * SLOTS + 2 * STAGES * BN) * HD * sizeof(T) + 32 * STAGES + 24 * SLOTS, 1024)
//! let     BLOCKS  = BATCH * HEADS * ceil_div(LONGEST, BM) "those beyond the end of a sequence leave at once"
//!
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require given(mask) == 0 || BM != 192            "the warps that find the steps a mask leaves need registers"
//! require HD / 2 + BN * 3 / 4 <= (BM == 192 ? 132 : 200) "output, scores and weights must fit in registers"
//!
//! tensor  Q  box [64, 1, PANEL]  swizzle PANEL * 2
//! tensor  K  box [BN, 1, PANEL]  swizzle PANEL * 2  l2 256
//! tensor  V  box [BN, 1, PANEL]  swizzle PANEL * 2  l2 256
//! tensor  O  box [64, 1, PANEL]  swizzle PANEL * 2  view
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 4 * HEADS * M * (N / max(1, BATCH)) * HD / (1 + CAUSAL)  bytes (2 * HEADS * M + 2 * KV_HEADS * N) * HD * sizeof(T)
//! reference attention_ragged_reference  grid min(BATCH * HEADS * LONGEST, 65536)  block max(128, HD)  bits 4
//!
//! preset  HD = 64, BM = 192, BN = 128            when given(mask) == 0
//! preset  HD = 64, BM = 128, BN = 128
//! preset  HD = 64, CAUSAL = 1, BM = 192, BN = 128  when given(mask) == 0
//! preset  HD = 64, CAUSAL = 1, BM = 128, BN = 128
//! preset  HD = 128, BM = 128, BN = 128
//! preset  HD = 128, CAUSAL = 1, BM = 128, BN = 128
//! preset  HD = 192, BM = 128, BN = 112
//! preset  HD = 256, BM = 128, BN = 80

#include "device/epilogue/log_sums.cuh"
#include "device/epilogue/store_ragged.cuh"
#include "device/pipeline/attention_wgmma.cuh"
#include "device/reference/attention_ragged.cuh"
#include "device/schedule/attention_ragged.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = RaggedAttentionTiles<BM, BN>;
using Work = Tiles::Work;

// Registers of a thread that loads or stores; those that load evaluate the mask.
constexpr int kLoadRegisters = CONSUMERS == 3 ? 32 : kMaskGiven ? 72 : 40;

// Computes 64 rows of the block's tile. Called by one consumer warpgroup.
__device__ void consume(Smem& smem, const View<T, 3>& O, const View<f32, 2>& L, const Work& work, f32 scale,
                        const Hooks& hooks) {
  const int consumer = threadIdx.x / kWarpgroup, row = threadIdx.x % kWarpgroup / 32 * 16, first = consumer * 64;
  Consumer queries(smem.queries);
  queries.skip(consumer);
  Attention<Work> attention(smem, hooks, consumer);
  const u32 slot = queries.wait();
  Output o;
  attention.compute(o, smem.q[slot], work, scale, [&](const Softmax& softmax) {
    if constexpr (LSE) store_log_sums(work.log_sums_of(L), softmax, work, threadIdx.x / 32 * 16);
  });
  attention.finish();
  store(smem.q[slot], row, 0, o);  // overwrites the queries, which only this warpgroup has read
  tma::fence();
  __syncwarp();
  if (work.ends_within(first, 64)) {
    const View<T, 2> rows = work.rows_of(O, s64{work.row} + work.first + first, work.own_head);
    store_ragged_rows<16>(rows, smem.q[slot], row, work.queries - work.first - first);
  }
  if (threadIdx.x % 32 == 0) smem.made[slot].arrive();
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_ragged(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const s32, 1> CU, View<const s32, 1> CUK, const __grid_constant__ Mapped<T, 3> O, View<f32, 2> L, f32 scale,
    const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Tiles tiles(dims, CU, CUK);
  if (!tiles.more()) return;
  if (threadIdx.x == 0) {
    for (Barrier& made : smem.made) made.init(4);
    smem.queries.init(1);
    smem.keys.init(kMaskGiven ? CONSUMERS * 4 : CONSUMERS);
    smem.values.init(CONSUMERS);
  }
  __syncthreads();
  const int thread = threadIdx.x - CONSUMERS * kWarpgroup;
  if (thread >= 0) {
    give_registers<kLoadRegisters>();
    if constexpr (kMaskGiven) {
      if (thread < 32)
        load_seen_backwards<CONSUMERS>(smem, Q, K, V, tiles, [&](const Work& work) {
          return SeenSteps<BN, TileMask<Work>>(work.steps, work.keys, {hooks, work});
        });
    } else if (thread == 0) {
      load_attention_backwards<CONSUMERS>(smem, Q, K, V, tiles);
    }
    if (thread == 32) store_attention<CONSUMERS>(smem, O.map, tiles);
    __syncwarp();
  } else {
    take_registers<CONSUMERS == 3 ? 160 : kMaskGiven ? 216 : 232>();
    consume(smem, O.view, L, tiles.work(), scale, hooks);
    __syncwarp();
  }
}

#endif

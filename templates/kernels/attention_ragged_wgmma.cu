//! kernel  attention_ragged  "O = softmax(scale * Q K^T) V for each head of sequences of different lengths that lie one after the other, CU[b] queries and CUK[b] keys before sequence b"
//! arch    sm_90a
//! prefer  1
//! use     "device/reference/attention_ragged.cuh"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   BM      = 128   in {64, 128, 192}        "queries of a block: 64 a warpgroup"
//! param   BN      = 128   in {32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256} "keys of a step"
//! param   STAGES  = 2     in 1..4                  "steps of keys, and of values, in flight or in use"
//! param   TILES   = 1     in {1, 2}                "tiles whose queries and outputs are in shared memory"
//!
//! let     CONSUMERS = BM / 64
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     SLOTS   = CONSUMERS * TILES              "of queries and outputs"
//! let     PANEL   = HD % 64 == 0 ? 64 : 32         "elements of a swizzle row"
//! let     VALUE_PANEL = DV % 64 == 0 ? 64 : 32
//! let     SMEM    = align_up((64 * SLOTS * HD + STAGES * BN * (HD + DV)) * sizeof(T) + 32 * STAGES + 24 * SLOTS, 1024) + 1024
//! let     BLOCKS  = HEADS * min(BATCH * ceil_div(LONGEST, BM), M / BM + BATCH) "tiles at most"
//!
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require BLOCKS <= 2000000000                     "tiles are counted in 31 bits"
//! require DV <= HD                                 "a result takes the place of its query"
//! require given(mask) == 0 || BM != 192            "the warps that find the steps a mask leaves need registers"
//! require DV / 2 + BN * 3 / 4 <= (BM == 192 ? 132 : 200) "output, scores and weights must fit in registers"
//!
//! tensor  Q  box [64, 1, PANEL]  swizzle PANEL * 2
//! tensor  K  box [BN, 1, PANEL]  swizzle PANEL * 2  l2 256
//! tensor  V  box [BN, 1, VALUE_PANEL]  swizzle VALUE_PANEL * 2  l2 256
//! tensor  O  box [64, 1, VALUE_PANEL]  swizzle VALUE_PANEL * 2  view
//!
//! workspace counter  4  zero  "tiles that the blocks have drawn"
//!
//! launch  grid min(BLOCKS, device.sm_count)  block THREADS  smem SMEM
//! work    flops 2 * HEADS * M * (N / max(1, BATCH)) * (HD + DV) / (1 + CAUSAL)  bytes (HEADS * M + KV_HEADS * N) * (HD + DV) * sizeof(T)
//! reference attention_ragged_reference  grid min(BATCH * HEADS * LONGEST, 65536)  block max(128, HD)  bits 4
//!
//! preset  HD = 64, BM = 128, BN = 128, TILES = 2
//! preset  HD = 64, CAUSAL = 1, BM = 128, BN = 128, TILES = 2
//! preset  HD = 128, BM = 128, BN = 128, TILES = 2
//! preset  HD = 128, CAUSAL = 1, BM = 128, BN = 128, TILES = 2
//! preset  HD = 192, BM = 128, BN = 112           when VD != 128
//! preset  HD = 192, VD = 128, BM = 128, BN = 128
//! preset  HD = 256, BM = 128, BN = 80

#include "device/epilogue/log_sums.cuh"
#include "device/epilogue/store_ragged.cuh"
#include "device/pipeline/attention_wgmma.cuh"
#include "device/pipeline/published_tiles.cuh"
#include "device/reference/attention_ragged.cuh"
#include "device/schedule/attention_ragged.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = DrawnAttentionTiles<BM, BN>;
using Work = Tiles::Work;

struct RaggedSmem : Smem {
  Work work[SLOTS];  // of the tile whose queries are in the slot
};
static_assert(sizeof(RaggedSmem) <= SMEM);
using Drawn = PublishedTiles<CONSUMERS, SLOTS, RaggedSmem, Work>;

// Registers of a thread that loads or stores; those that load evaluate the mask.
constexpr int kLoadRegisters = CONSUMERS == 3 ? 32 : kMaskGiven ? 72 : 56;

// Computes 64 rows of each of the block's tiles. Called by one consumer warpgroup.
__device__ void consume(RaggedSmem& smem, const HeadNumbers& numbers, const View<T, 3>& O, const View<f32, 2>& L,
                        f32 scale, const Hooks& hooks) {
  const int consumer = threadIdx.x / kWarpgroup, row = threadIdx.x % kWarpgroup / 32 * 16, first = consumer * 64;
  const auto finish = [&](const Output& o, const Softmax& softmax, const Work&, u32 slot) {
    const Work& work = smem.work[slot];
    if constexpr (LSE) store_log_sums(work.log_sums_of(L), softmax, work, threadIdx.x / 32 * 16);
    store(smem.result(slot), row, 0, o);  // overwrites the queries, which only this warpgroup has read
    tma::fence();
    __syncwarp();
    if (work.ends_within(first, 64)) {
      const View<T, 2> rows = work.rows_of(O, s64{work.row} + work.first + first, work.own_head);
      store_ragged_rows<16>(rows, smem.result(slot), row, work.queries - work.first - first);
      __syncwarp();
    }
    if (threadIdx.x % 32 == 0) smem.made[slot].arrive();
  };
  Attention<Work, decltype(finish)> attention(smem, hooks, numbers, scale, consumer, finish);
  for (Drawn tiles(smem, consumer); uniform(tiles.more()); tiles.next()) attention.attend(tiles.work(), tiles.slot());
  attention.end();
  attention.finish_turns();
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_ragged(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const s32, 1> CU, View<const s32, 1> CUK, View<const f32, 1> SINK, const __grid_constant__ Mapped<T, 3> O,
    View<f32, 2> L, u8* counter, f32 scale, const Dims dims, const __grid_constant__ Hooks hooks) {
  RaggedSmem& smem = shared_memory<RaggedSmem>();
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
    if (thread < 32) {
      Tiles tiles(dims, CU, CUK, reinterpret_cast<u32*>(counter), smem.work);
      if constexpr (kMaskGiven)
        load_seen_backwards<CONSUMERS>(smem, Q, K, V, tiles, [&](const Work& work) {
          return SeenSteps<BN, TileMask<Work>>(work.steps, work.keys, {hooks, work});
        });
      else
        load_attention_backwards<CONSUMERS>(smem, Q, K, V, tiles);
    }
    if (thread == 32) store_attention<CONSUMERS>(smem, O.map, Drawn(smem, 0));
    __syncwarp();
  } else {
    take_registers<CONSUMERS == 3 ? 160 : kMaskGiven ? 216 : 224>();
    consume(smem, {{}, {}, {}, SINK, static_cast<int>(dims.HEADS)}, O.view, L, scale, hooks);
    __syncwarp();
  }
}

#endif

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
//! let     CLUSTER = 1                              "blocks that load keys together"
//! let     CONSUMERS = BM / 64
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     SLOTS   = CONSUMERS * TILES              "of queries and outputs"
//! let     PANEL   = HD % 64 == 0 ? 64 : 32         "elements of a swizzle row"
//! let     VALUE_PANEL = DV % 64 == 0 ? 64 : 32
//! let     SMEM    = align_up((64 * SLOTS * HD + STAGES * BN * (HD + DV)) * sizeof(T) + 32 * STAGES + 24 * SLOTS, 1024) + 1024
//! let     BLOCKS  = HEADS * min(BATCH * ceil_div(LONGEST, BM), M / BM + BATCH) "tiles at most"
//!
//! require SMEM + 1024 * given(mask) <= device.smem_per_block "the tiles must fit in shared memory, and what is found of a mask"
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
//! launch  grid min(BLOCKS, device.sm_count)  block THREADS  smem SMEM + 1024 * given(mask)
//! work    flops 2 * HEADS * M * (N / max(1, BATCH)) * (HD + DV) / (1 + CAUSAL)  bytes (HEADS * M + KV_HEADS * N) * (HD + DV) * sizeof(T)
//! reference attention_ragged_reference  grid min(BATCH * HEADS * LONGEST, 65536)  block max(128, HD)  bits 4
//!
//! preset  HD = 64, BM = 64, BN = 128               when HD <= 128 && BLOCKS <= device.sm_count
//! preset  HD = 64, BM = 128, BN = 128, TILES = 2
//! preset  HD = 64, CAUSAL = 1, BM = 128, BN = 128, TILES = 2
//! preset  HD = 128, BM = 128, BN = 128, TILES = 2
//! preset  HD = 128, CAUSAL = 1, BM = 128, BN = 128, TILES = 2
//! preset  HD = 192, BM = 128, BN = 112           when VD != 128
//! preset  HD = 192, VD = 128, BM = 128, BN = 128
//! preset  HD = 256, BM = 128, BN = 80

#include "device/epilogue/log_sums.cuh"
#include "device/epilogue/store_ragged.cuh"
#include "device/reference/attention_ragged.cuh"
#include "device/schedule/attention_ragged.cuh"

#include "device/pipeline/attention_sequences.cuh"

#ifndef TMA_JIT_REFERENCE

// Registers of a consumer's threads; others evaluate the mask.
constexpr int kRegisters = CONSUMERS == 3 ? 160 : !kMaskGiven ? 224 : DV < 192 ? 208 : 216;

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_ragged(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const s32, 1> CU, View<const s32, 1> CUK, View<const f32, 1> SINK, const __grid_constant__ Mapped<T, 3> O,
    View<f32, 2> L, u8* counter, f32 scale, const Dims dims, const __grid_constant__ Hooks hooks) {
  RaggedSmem& smem = shared_memory<RaggedSmem>();
  if (threadIdx.x == 0) init_all(smem);
  __syncthreads();
  const int thread = threadIdx.x - CONSUMERS * kWarpgroup;
  if (thread >= 0) {
    give_registers<registers_left(kRegisters)>();
    const Sequences sequences = {CU, CUK, dims};
    if constexpr (kMaskGiven) {
      if (thread / 32 == 0 && elect()) load_found_backwards<CONSUMERS>(smem, Q, K, V);
      if (thread >= 64 && thread < 96) {
        Tiles tiles(dims, sequences, reinterpret_cast<u32*>(counter), smem.work);
        find_steps(smem.found, tiles, [&](const Work& work) {
          return SeenSteps<BN, TileMask<Work>>(work.steps, work.keys, {hooks, work});
        });
      }
    } else if (thread < 32) {
      Tiles tiles(dims, sequences, reinterpret_cast<u32*>(counter), smem.work);
      load_attention_backwards<CONSUMERS>(smem, Q, K, V, tiles);
    }
    if (thread / 32 == 1 && elect()) store_attention<CONSUMERS>(smem, O.map, Drawn(smem, 0));
    __syncwarp();
  } else {
    take_registers<kRegisters>();
    consume(smem, {{}, {}, {}, SINK, static_cast<int>(dims.HEADS)}, O.view, L, scale, hooks);
    __syncwarp();
  }
}

#endif

#pragma once
// Gated products by tcgen05: the two are one, of A with tiles of G and B below each other, of which each block of a
// pair has one, so that a thread has the sums of both for the same elements of D. T, U, O and what the manifest names
// and the headers of device/epilogue are the template's.
//
// What the files of gemm_gated and gemm_gated_batched by tcgen05 share of their manifests, which `use` this after their
// references':
//! param   BN      = 128  in {32, 64, 96, 128}      "columns of D per tile, half of the product's"
//! param   STAGES  = 6    in 2..8                   "tiles of A, B and G in flight"
//! param   PAIR    = 2    in {1, 2}                 "blocks that multiply one tile together, 128 rows of D each"
//! param   GROUP_M = 8    in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BM        = 128                          "rows of D per block: the lanes of tensor memory"
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     WIDE      = 2 * BN                       "columns of the product"
//! let     THREADS   = 192                          "four warps store, one loads, one multiplies"
//! let     EPI_N     = BN * sizeof(O) % 128 == 0 ? min(64, 128 / sizeof(O)) : 32 "columns of D stored together, of which a thread has the sums of both products"
//! let     EPI_TILES = BN / EPI_N % 2 == 0 ? 2 : 1  "epilogue tiles stored together"
//! let     SMEM      = align_up(STAGES * (BM + WIDE / PAIR) * 128 + EPI_TILES * BM * EPI_N * sizeof(O) + 16 * STAGES + 48 + 144 * DYNAMIC, 1024)
//! let     TILES     = BATCH * ceil_div(M, BM * PAIR) * ceil_div(N, BN) "tiles of a pair"
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count / PAIR))
//! let     BYTES     = (A_BATCH * M + 2 * B_BATCH * N) * K * sizeof(T) + BATCH * M * N * sizeof(O) "of A, B, G and D"
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require !integer(T) || device.compute_capability == 100 "of sm_100a and sm_103a only the first multiplies s8"
//!
//! cluster PAIR
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES)) * PAIR  block THREADS  smem SMEM  waits
//! work    flops 4 * BATCH * M * N * K  bytes BYTES  cycles 18246 + max(4 * BATCH * M * N * K / (device.sm_count * 8192), WAVES * ceil_div(K, BK) * max(100, 2 * WIDE), BYTES / 2230) "as gemm's; not measured"
//!
//! preset  BN = 32, STAGES = 8, PAIR = 1   when BATCH * ceil_div(M, 128) * ceil_div(N, 64) <= device.sm_count / 2
//! preset  BN = 64, STAGES = 6, PAIR = 1   when BATCH * ceil_div(M, 256) * ceil_div(N, 128) <= device.sm_count / 4
//! preset  BN = 128, STAGES = 6, PAIR = 2
#include "device/pipeline/cancelled_tiles.cuh"
#include "device/pipeline/tcgen05_block.cuh"
#include "device/pipeline/tcgen05_multiplier.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_paired_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kColumns = tensor_memory::allocation(kAccumulators * WIDE);

template <int Blocks> struct ShareOf { using Tile = PairedTile<U, BN, BK>; };
template <> struct ShareOf<2> { using Tile = OperandTile<false, U, BN, BK>; };

struct Smem {
  using Staged = SharedTile<O, BM, EPI_N>;
  OperandTile<false, T, BM, BK> a[STAGES];
  ShareOf<PAIR>::Tile b[STAGES];
  Staged staged[EPI_TILES];
  Pipeline<STAGES> operands;
  Pipeline<kAccumulators, PAIR> accumulators;  // filled by the multiplying thread, drained by the storing warps
  CancelledLaunches<DYNAMIC, PAIR> launches;
  u32 address;  // of the accumulators, in tensor memory
};
static_assert(sizeof(Smem) <= SMEM);

#endif

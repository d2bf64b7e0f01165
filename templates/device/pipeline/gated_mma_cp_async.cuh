#pragma once
// Gated products by mma.sync and cp.async: the two are one, of A with tiles of B and G below each other, of which each
// warp makes all columns of its rows, so that a thread has the sums of both for the same elements of D. T, U, O and
// what the manifest names and the headers of device/epilogue are the template's.
//
// What the files of gemm_gated and gemm_gated_batched by cp.async share of their manifests, which `use` this after
// their references':
//! param   VEC     = 16   in {16, 8, 4, 2, 1}        "bytes copied at once: the rows of A, B and G begin at multiples of it"
//! param   BM      = 128  in {64, 128, 256}         "rows of D per block"
//! param   BN      = 32   in {32, 64}               "columns of D per block, of which a warp makes all"
//! param   STEP    = 64   in {64, 128}              "bytes of each row of A, B and G per step: one swizzled row"
//! param   WM      = 32   in {16, 32, 64}           "rows of D per warp"
//! param   STAGES  = 4    in 2..6                   "tiles of A, B and G in flight"
//! param   BLOCKS  = 1    in {1, 2, 3}              "blocks that share an SM"
//! param   GROUP_M = 8    in {1, 4, 8, 16}          "tile rows visited together, for L2 reuse"
//!
//! let     BK        = STEP / sizeof(T)             "columns of A, B and G per step"
//! let     WIDE      = 2 * BN                       "columns of the product"
//! let     FLOAT8    = sizeof(T) == 1 && !integer(T)
//! let     WARPS     = BM / WM
//! let     THREADS   = 32 * WARPS
//! let     SMEM      = align_up(STAGES * (BM + WIDE) * STEP + WARPS * 16 * BN * sizeof(O), 1024)
//! let     TILES     = BATCH * ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count * BLOCKS))
//!
//! require VEC == sizeof(T) || alignment(A) >= VEC && alignment(B) >= VEC && alignment(G) >= VEC "A, B and G must begin at a multiple of the access"
//! require VEC >= 4 || VEC == sizeof(T)           "cp.async copies 4 bytes or more; elements are gathered one by one"
//! require VEC != 4 || STEP == 64                   "one pass of the block copies whole groups of 8 rows"
//! require !FLOAT8 || device.compute_capability >= 89 "mma.sync multiplies 8-bit floats from sm_89 on"
//! require !FLOAT8 || device.compute_capability < 90 || device.compute_capability >= 120 || WM * WIDE <= 1024 "from sm_90 to below sm_120 mma.sync widens 8-bit floats to 16 bits, for which only warp tiles of 1024 sums leave registers"
//! require WARPS == 4 || WARPS == 8                 "a block has 128 or 256 threads"
//! require THREADS * 16 / STEP <= BN || VEC < 16 && THREADS * 8 / STEP <= BN && VEC > 2 "one pass of the block copies rows of B or of G alone"
//! require SMEM <= device.smem_per_block && (SMEM + 1024) * BLOCKS <= device.smem_per_sm "the pipelines of an SM's blocks must fit in shared memory"
//! require (WM * WIDE / 32 + WM / 2 + WIDE / 2 + 60 + 64 * (FLOAT8 && device.compute_capability >= 90 && device.compute_capability < 120)) * THREADS * BLOCKS <= device.registers_per_sm && WM * WIDE <= 4096 "accumulators and fragments must fit in registers, from sm_90 to below sm_120 those of 8-bit floats widened to 16 bits too"
//!
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES))  block THREADS  smem SMEM
//! work    flops 4 * BATCH * M * N * K  bytes (A_BATCH * M + 2 * B_BATCH * N) * K * sizeof(T) + BATCH * M * N * sizeof(O)
//!
//! preset  VEC = 16, BM = 128, BN = 64, STEP = 128, WM = 32, STAGES = 4  when device.smem_per_block >= 180000
//! preset  VEC = 16, BM = 256, BN = 32, STEP = 64, WM = 64, STAGES = 4
//! preset  VEC = 16, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 8, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 4, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 2, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 1, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 16, BM = 64, BN = 32, STEP = 64, WM = 16, STAGES = 4  when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  VEC = 8, BM = 64, BN = 32, STEP = 64, WM = 16, STAGES = 4  when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  VEC = 4, BM = 64, BN = 32, STEP = 64, WM = 16, STAGES = 4  when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  VEC = 1, BM = 64, BN = 32, STEP = 64, WM = 16, STAGES = 4  when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
#include "device/pipeline/mma_cp_async.cuh"
#include "device/tile/cp_async_paired_tile.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Accumulators = RegisterTile<layout::Mma<WM, WIDE>, Unit<T>::Sum>;
using Staged = SharedTile<O, 16, BN>;

struct Smem {
  using TileA = SharedTile<T, BM, BK>;
  using TileB = PairedTile<U, BN, BK>;
  TileA a[STAGES];
  TileB b[STAGES];
  Staged staged[WARPS];
};
static_assert(sizeof(Smem) <= SMEM);

#endif

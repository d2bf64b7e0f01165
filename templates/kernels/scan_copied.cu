//! kernel  scan     "Y[i,j] = output(combination of input(X[i,k]) over k <= j, or k < j): running sums, maxima, minima or a combination of yours, over rows whose tiles blocks first join and then read again"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/scan.cuh"
//!
//! param   THREADS = 256   in {128, 256, 512}       "of a block, which has a tile"
//! param   SEGMENTS = 1    in {1, 2, 4}             "segments of 32 bytes of a thread"
//! param   BLOCKS  = 1     in {1, 2, 3, 4, 5, 6, 8} "blocks that an SM is to have room for"
//! param   BATCH   = 256   in {64, 128, 256, 512, 1024} "tiles that are joined before those of the batch before are read again"
//!
//! let     SEGMENT = 32 / sizeof(T)                 "elements of a segment"
//! let     TILE    = THREADS * SEGMENTS * SEGMENT   "elements of a tile"
//! let     SMEM    = align_up(TILE * sizeof(T) + THREADS * SEGMENTS * ((SEGMENT + 4) * 4 + 4) + 12, 16)
//! let     TILES   = ceil_div(N, TILE)              "of a row"
//! let     WORDS   = TILES + ceil_div(TILES, 32) + ceil_div(TILES, 1024) "of a row: one a tile, one a group of 32 tiles and one a span of 1024"
//!
//! require SEGMENTED == 0                           "rows of segments are scanned in registers"
//! require N >= 8192                                "shorter rows are a block's"
//! require M * N * sizeof(T) > device.sm_count * 32768 "few elements are scanned faster by blocks that read them once"
//! require SMEM + 1024 <= device.smem_per_block && (SMEM + 2048) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require THREADS * BLOCKS <= device.threads_per_sm "an SM must have room for the blocks' threads"
//! require 2 * (M * TILES + BATCH) <= 2147483647    "blocks are counted in 31 bits"
//! require stride(X, 1) == 1 && alignment(X) % 16 == 0 && (M <= 1 || stride(X, 0) * sizeof(T) % 16 == 0) "rows of X begin at 16 bytes, and their elements are neighbours"
//! require stride(Y, 1) == 1 && alignment(Y) % 16 == 0 && (M <= 1 || stride(Y, 0) * sizeof(O) % 16 == 0) "rows of Y begin at 16 bytes, and their elements are neighbours"
//!
//! workspace words M * WORDS * 8  zero              "what tiles post for those after them"
//! workspace counters (1 + M * ceil_div(TILES, 1024)) * 4  zero "tiles that have begun, and those of each span that have read its words"
//!
//! launch  grid 2 * align_up(M * TILES, BATCH)  block THREADS  smem SMEM
//!
//! preset  SEGMENTS = 1, BLOCKS = 6  when device.smem_per_sm >= 200000 && sizeof(T) == 2
//! preset  SEGMENTS = 2, BLOCKS = 4  when device.smem_per_sm >= 200000
//! preset  SEGMENTS = 1, BLOCKS = 3

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/copied_scan.cuh"
#include "device/tile/shared_memory.cuh"

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void scan(View<const T, 2> X, View<const u8, 2>, View<O, 2> Y,
                                                                   u8* words, u8* counters, f32 neutral,
                                                                   const Dims dims,
                                                                   const __grid_constant__ Hooks hooks) {
  using Op = ScanOperation<OP, false, f32, Hooks>;
  using Scan = CopiedScan<EXCLUSIVE != 0, THREADS, SEGMENTS, BATCH, T, O, Op>;
  static_assert(sizeof(typename Scan::Tile) == SMEM);
  __shared__ ScanSmem<THREADS, SEGMENTS, f32> smem;
  __shared__ ChainSmem<f32> chain;
  const Op op = {hooks, neutral};
  const ChainedRows rows = {reinterpret_cast<u64*>(words), reinterpret_cast<u32*>(counters),
                            ceil_div<u32>(dims.N, TILE)};
  const Scan scan(shared_memory<typename Scan::Tile>(), X, dims.M, dims.N, rows, op);
  if (!scan.any) return;
  const ChainedTile chained = rows.tile(scan.number);
  Part<f32> before = op.neutral(), part[SEGMENTS];
  const bool in_place = static_cast<const void*>(X.data) == Y.data;  // a tile must have been read before stores
  if (scan.second) {
    if (in_place && threadIdx.x == 0) chained.await_own<f32>();
    before = chained.before(chain, op);
  }
  scan.wait();
  scan.join(part);
  const Part<f32> all = scan_parts<THREADS, THREADS>(part, smem, op);
  if (!scan.second) {
    if (threadIdx.x == 0) in_place ? chained.post_read(all) : chained.post_own(all);
    if (threadIdx.x < 32) chained.pass_on(all, op);
  } else {
#pragma unroll
    for (Part<f32>& of_segment : part) of_segment = op.joined(before, of_segment);
    scan.store(Y, part);
  }
  chained.leave<2>();
}

#else

using Number = f64;
using Given = f32;
#include "device/reference/scan.cuh"

#endif

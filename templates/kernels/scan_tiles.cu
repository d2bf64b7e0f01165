//! kernel  scan     "Y[i,j] = output(combination of input(X[i,k]) over k <= j, or k < j): running sums, maxima, minima or a combination of yours, over rows that several blocks share, or segments of them"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/scan.cuh"
//!
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   PACKS   = 8     in {2, 4, 8}             "reads of 16 bytes that a thread has in flight"
//! param   BLOCKS  = 4     in {1, 2, 3, 4, 5, 6, 8} "blocks that an SM is to have room for"
//! param   BYTES   = 16    in {16, 8}               "of a read"
//! param   NEAR    = 0     in {0, 1}                "1: a tile reads what each tile of its row before it posted; 0: what groups of tiles did"
//! param   AHEAD   = 0     in {0, 32, 64, 128, 256} "by how many tiles a block brings one to L2 before another block reads it"
//!
//! let     COUNT   = BYTES / sizeof(T)              "elements of a pack, which is read at once"
//! let     HELD    = THREADS * PACKS * COUNT        "elements of a tile"
//! let     SKEW    = alignment(X) % 16 == 0 && (M <= 1 || stride(X, 0) % COUNT == 0) ? 0 : COUNT - 1 "elements by which a row's first tile may begin before it"
//! let     TILES   = N == 0 ? 0 : ceil_div(N + SKEW, HELD) "of a row"
//! let     BYTES_X = M * N * sizeof(T)
//! let     WORDS   = TILES + ceil_div(TILES, 32) + ceil_div(TILES, 1024) "of a row: one a tile, one a group of 32 tiles and one a span of 1024"
//!
//! require sizeof(T) == 4 || PACKS * BLOCKS * THREADS * BYTES <= 98304 "what a thread holds must fit into registers"
//! require PACKS * THREADS * BLOCKS <= 8192         "what the threads of an SM hold must fit into registers"
//! require NEAR == 0 || TILES <= THREADS            "a thread waits for one tile"
//! require NEAR == 0 || THREADS < 512 || PACKS * BYTES <= 64 "what a thread holds and awaits must fit into registers"
//! require AHEAD == 0 || device.compute_capability >= 90 "bulk prefetches to L2 are from sm_90 on"
//! require M * TILES + AHEAD <= 2147483647 "tiles are counted in 31 bits"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require SEGMENTED == 0 || stride(B, 1) == 1      "elements of a row of B are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//!
//! workspace words M * WORDS * 8  zero   "what tiles post for those after them"
//! workspace counters (1 + M * ceil_div(TILES, 1024)) * 4  zero    "tiles that have begun, and those of each span that have read its words"
//!
//! launch  grid M * TILES  block THREADS
//!
//! preset  PACKS = 4, BLOCKS = 3  when SEGMENTED == 1 && BYTES_X > device.sm_count * 16384
//! preset  THREADS = 512, PACKS = 2, BLOCKS = 2, BYTES = 8, NEAR = 1  when device.compute_capability == 90 && SEGMENTED == 0 && sizeof(T) == 2 && BYTES_X <= device.sm_count * 2048
//! preset  THREADS = 512, PACKS = 4, BLOCKS = 2, BYTES = 8, NEAR = 1  when device.compute_capability == 90 && SEGMENTED == 0 && sizeof(T) == 2 && BYTES_X <= device.sm_count * 12288
//! preset  THREADS = 256, PACKS = 8, BLOCKS = 4, BYTES = 8, NEAR = 1  when device.compute_capability == 90 && SEGMENTED == 0 && sizeof(T) == 2 && BYTES_X <= device.sm_count * 196608
//! preset  THREADS = 512, PACKS = 8, BLOCKS = 2, BYTES = 8, NEAR = 1  when device.compute_capability == 90 && SEGMENTED == 0 && sizeof(T) == 2 && BYTES_X <= device.sm_count * 196608
//! preset  THREADS = 512, PACKS = 4, BLOCKS = 2, NEAR = 1  when device.compute_capability == 90 && SEGMENTED == 0 && sizeof(T) == 4 && BYTES_X > device.sm_count * 4096 && BYTES_X <= device.sm_count * 16384
//! preset  THREADS = 256, PACKS = 8, BLOCKS = 4, NEAR = 1  when device.compute_capability == 90 && SEGMENTED == 0 && sizeof(T) == 4 && BYTES_X > device.sm_count * 16384 && BYTES_X <= device.sm_count * 98304
//! preset  THREADS = 512, PACKS = 8, BLOCKS = 2, BYTES = 8, AHEAD = 32  when device.compute_capability == 90 && sizeof(T) == 2 && BYTES_X > device.sm_count * 196608
//! preset  THREADS = 512, PACKS = 4, BLOCKS = 2, BYTES = 8  when sizeof(T) == 2 && BYTES_X > device.sm_count * 8192 && BYTES_X <= device.sm_count * 32768
//! preset  PACKS = 2, BLOCKS = 4, BYTES = 8  when sizeof(T) == 2 && BYTES_X <= device.sm_count * 16384
//! preset  PACKS = 2, BLOCKS = 4  when BYTES_X <= device.sm_count * 16384
//! preset  THREADS = 512, PACKS = 2, BLOCKS = 2  when device.compute_capability == 90 && sizeof(T) == 4 && BYTES_X <= device.sm_count * 32768
//! preset  PACKS = 4, BLOCKS = 6, BYTES = 8  when device.compute_capability < 100 && sizeof(T) == 2
//! preset  PACKS = 4, BLOCKS = 5  when device.compute_capability == 90 && sizeof(T) == 2
//! preset  PACKS = 4, BLOCKS = 4  when sizeof(T) == 2
//! preset  PACKS = 8, BLOCKS = 3  when device.compute_capability >= 120
//! preset  PACKS = 8, BLOCKS = 4

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/chained_parts.cuh"

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void scan(View<const T, 2> X, View<const u8, 2> B,
                                                                   View<O, 2> Y, u8* words, u8* counters, f32 neutral,
                                                                   const Dims dims,
                                                                   const __grid_constant__ Hooks hooks) {
  const ScanOperation<OP, SEGMENTED != 0, f32, Hooks> op = {hooks, neutral};
  scan_tile<EXCLUSIVE != 0, THREADS, PACKS, COUNT, AHEAD, NEAR != 0>(
      X, B, Y, dims.M, dims.N, reinterpret_cast<u64*>(words), reinterpret_cast<u32*>(counters), op);
}

#else

using Number = f64;
using Given = f32;
#include "device/reference/scan.cuh"

#endif

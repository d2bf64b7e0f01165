//! kernel  scan     "Y[i,j] = output(combination of input(X[i,k]) over k <= j, or k < j): running sums, maxima, minima or a combination of yours, of integers, over rows or segments of them"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = s32                            "elements of X, combined as such: sums are modulo 2^32"
//! type    O       = s32                            "elements of Y"
//! dim     M               in 0..2147483647
//! dim     N               in 0..2147418112
//!
//! param   OP      = 0     in {0, 2, 3, 5} asked    "0: sum, 2: maximum, 3: minimum, 5: combine"
//! param   EXCLUSIVE = 0   in {0, 1} asked          "0: over k <= j; 1: over k < j, so that a row begins with the neutral element"
//! param   SEGMENTED = 0   in {0, 1}                "1: the combination begins anew where B is not 0"
//! param   TILED   = 0     in {0, 1}                "0: a row is in registers of a warp or a block; 1: blocks share it"
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 256   in {4, 8, 16, 32, 128, 256, 512} "threads of a block that share a row, or a tile of it: some of a warp, or the block"
//! param   PACKS   = 4     in {2, 4, 8}             "reads of 16 bytes that a thread has in flight"
//! param   BLOCKS  = 2     in {1, 2, 3, 4, 5, 6, 8} "blocks that an SM is to have room for"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     HELD    = LANES * PACKS * COUNT          "elements of a row, or of a tile, in registers"
//! let     SKEW    = alignment(X) % 16 == 0 && (M <= 1 || stride(X, 0) % COUNT == 0) ? 0 : COUNT - 1 "elements by which a row's first pack may begin before it"
//! let     TILES   = TILED == 0 ? 0 : ceil_div(N == 0 ? 0 : N + SKEW, HELD) "of a row"
//! let     WORDS   = TILES + ceil_div(TILES, 32) + ceil_div(TILES, 1024) "of a row: one a tile, one a group of 32 tiles and one a span of 1024"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require TILED == 0 || LANES == THREADS           "a tile is a block's"
//! require TILED == 1 || N + SKEW <= HELD           "a row must fit into its threads' registers"
//! require PACKS * THREADS * BLOCKS <= 8192         "what the threads of an SM hold must fit into registers"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require SEGMENTED == 0 || stride(B, 1) == 1      "elements of a row of B are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//!
//! tensor  X : T[M, N]
//! tensor  B : u8[M, N]    when SEGMENTED == 1
//! tensor  Y : O[M, N]  out
//! workspace words TILED == 0 ? 0 : M * WORDS * 8  zero   "what tiles post for those after them"
//! workspace counters TILED == 0 ? 0 : (1 + M * ceil_div(TILES, 1024)) * 4  zero    "tiles that have begun, and those of each span that have read its words"
//! scalar  neutral : s32 = 0                        "combine(x, neutral) and combine(neutral, x) are x"
//!
//! hook    input(s32 x, s32 row, s32 column) : s32 = x  "applied to each element first"
//! hook    combine(s32 a when OP == 5, s32 b when OP == 5) : s32 = 0  "of elements a before elements b; associative"
//! hook    output(s32 y, s32 row, s32 column) : s32 = y  "applied to each result"
//!
//! launch  grid TILED == 0 ? ceil_div(M, THREADS / LANES) : M * TILES  block THREADS
//! work    flops M * N  bytes M * N * (sizeof(T) + sizeof(O) + SEGMENTED)
//! reference scan_reference  grid min(M, 65536)  block 256
//!
//! preset  LANES = 4, PACKS = 2, BLOCKS = 2
//! preset  LANES = 16, PACKS = 2, BLOCKS = 2
//! preset  LANES = 32, PACKS = 4, BLOCKS = 2
//! preset  LANES = 256, PACKS = 4, BLOCKS = 2
//! preset  LANES = 512, THREADS = 512, PACKS = 4, BLOCKS = 1
//! preset  TILED = 1, PACKS = 4, BLOCKS = 3  when SEGMENTED == 1
//! preset  TILED = 1, PACKS = 4, BLOCKS = 5  when device.compute_capability == 90
//! preset  TILED = 1, PACKS = 4, BLOCKS = 4

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/chained_parts.cuh"

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void scan(View<const T, 2> X, View<const u8, 2> B,
                                                                   View<O, 2> Y, u8* words, u8* counters, s32 neutral,
                                                                   const Dims dims,
                                                                   const __grid_constant__ Hooks hooks) {
  const ScanOperation<OP, SEGMENTED != 0, s32, Hooks> op = {hooks, neutral};
  if constexpr (TILED == 0)
    scan_rows<EXCLUSIVE != 0, THREADS, LANES, PACKS, COUNT>(X, B, Y, dims.M, dims.N, op);
  else
    scan_tile<EXCLUSIVE != 0, THREADS, PACKS, COUNT, 0, false>(X, B, Y, dims.M, dims.N, reinterpret_cast<u64*>(words),
                                                               reinterpret_cast<u32*>(counters), op);
}

#else

using Number = s32;
using Given = s32;
#include "device/reference/scan.cuh"

#endif

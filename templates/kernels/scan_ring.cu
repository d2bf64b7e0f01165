//! kernel  scan     "Y[i,j] = output(combination of input(X[i,k]) over k <= j, or k < j): running sums, maxima, minima or a combination of yours, over long rows, whose tiles are brought to shared memory"
//! arch    sm_90a
//! use     "device/reference/scan.cuh"
//!
//! param   THREADS = 512   in {128, 256, 512}       "of a block that scan; 96 others load tiles and wait for what precedes them"
//! param   PACKS   = 4     in {2, 4, 8}             "packs of a tile that a thread has"
//! param   BLOCKS  = 1     in {1, 2, 3, 4}          "blocks of an SM"
//! param   STAGES  = 4     in {3, 4, 6, 7}          "tiles of which a block has room in shared memory"
//! param   LAG     = 1     in {1, 2, 3, 4}           "tiles that are added up before one is stored"
//!
//! let     COUNT   = sizeof(T) == 2 ? 4 : 16 / sizeof(T) "elements of a pack"
//! let     HELD    = THREADS * PACKS * COUNT        "elements of a tile"
//! let     TILES   = ceil_div(N, HELD)              "of a row"
//! let     WORDS   = TILES + ceil_div(TILES, 32) + ceil_div(TILES, 1024) "of a row: one a tile, one a group of 32 tiles and one a span of 1024"
//! let     SMEM    = STAGES * HELD * sizeof(T) + THREADS * PACKS / 2 + 512
//!
//! require SEGMENTED == 0                           "begins of segments are not brought to shared memory"
//! require M * N * sizeof(T) >= device.sm_count * 196608 "fewer elements are scanned as soon without a ring"
//! require N > 16384                                "shorter rows fit into registers"
//! require M * TILES + device.sm_count * BLOCKS <= 2147483647 "tiles are counted in 31 bits"
//! require SMEM + 1024 <= device.smem_per_block && (SMEM + 2048) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require LAG < STAGES                             "a tile is in shared memory until it is stored"
//! require BLOCKS * (THREADS + 96) <= 1536 && PACKS * COUNT * BLOCKS * THREADS <= 32768 "the threads of an SM share its registers"
//! require stride(X, 1) == 1 && stride(Y, 1) == 1   "elements of a row are neighbours"
//! require N * sizeof(T) % 16 == 0 && alignment(X) % 16 == 0 && (M <= 1 || stride(X, 0) * sizeof(T) % 16 == 0) "rows of X begin at 16 bytes and are whole units of them"
//! require alignment(Y) % 16 == 0 && (M <= 1 || stride(Y, 0) % COUNT == 0) "results are stored in packs"
//!
//! workspace words M * WORDS * 8  zero   "what tiles post for those after them"
//! workspace counters (1 + M * ceil_div(TILES, 1024)) * 4  zero    "tiles that have been drawn, and those of each span that have read its words"
//!
//! launch  grid min(M * TILES, device.sm_count * BLOCKS)  block THREADS + 96  smem SMEM
//!
//! preset  PACKS = 8, STAGES = 6, LAG = 3  when sizeof(T) == 2
//! preset  PACKS = 4, STAGES = 7, LAG = 4  when sizeof(T) == 4

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/ring_scan.cuh"
#include "device/tile/shared_memory.cuh"

using Operation = ScanOperation<OP, false, f32, Hooks>;
using Ring = RingScan<EXCLUSIVE != 0, THREADS, PACKS, COUNT, STAGES, LAG, T, O, Operation>;
static_assert(sizeof(Ring::Smem) <= SMEM && Ring::kThreads == THREADS + 96);

extern "C" __global__ __launch_bounds__(THREADS + 96, BLOCKS) void scan(View<const T, 2> X, View<const u8, 2> B,
                                                                        View<O, 2> Y, u8* words, u8* counters,
                                                                        f32 neutral, const Dims dims,
                                                                        const __grid_constant__ Hooks hooks) {
  const Operation op = {hooks, neutral};
  auto& smem = shared_memory<Ring::Smem>();
  smem.init();
  Ring(X, Y, dims.M, dims.N, ceil_div(dims.N, HELD), reinterpret_cast<u64*>(words), reinterpret_cast<u32*>(counters),
       smem, op)
      .run();
}

#else

using Number = f64;
using Given = f32;
#include "device/reference/scan.cuh"

#endif

//! kernel  scan     "Y[i,j] = output(combination of input(X[i,k]) over k <= j, or k < j): running sums, maxima, minima or a combination of yours, over rows or segments of them"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/scan.cuh"
//!
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {2, 4, 8, 16, 32, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a row that a thread has in flight"
//! param   BYTES   = 16    in {16, 8}               "of a read"
//!
//! let     COUNT   = BYTES / sizeof(T)              "elements of a pack, which is read at once"
//! let     WIDER   = sizeof(T) == 2 && sizeof(O) == 4 "what is read as 8 bytes is stored as 16"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * PACKS * COUNT          "elements of a row that its threads hold"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require N + (alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require sizeof(T) > 2 || N <= 16384              "longer rows of 16-bit elements are faster as tiles that several blocks share"
//! require PACKS * THREADS <= 4096                  "what a thread holds must fit into registers"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require SEGMENTED == 0 || stride(B, 1) == 1      "elements of a row of B are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//!
//! launch  grid ceil_div(M, ROWS)  block THREADS
//!
//! preset  LANES = 16, THREADS = 256, PACKS = 1, BYTES = 8   when WIDER == 1 && N > 32
//! preset  LANES = 32, THREADS = 256, PACKS = 1, BYTES = 8   when WIDER == 1 && N > 32
//! preset  LANES = 32, THREADS = 128, PACKS = 2, BYTES = 8   when WIDER == 1 && N > 32
//! preset  LANES = 32, THREADS = 128, PACKS = 4, BYTES = 8   when WIDER == 1 && N > 32
//! preset  LANES = 128, THREADS = 128, PACKS = 2, BYTES = 8  when WIDER == 1 && N > 32
//! preset  LANES = 128, THREADS = 128, PACKS = 4, BYTES = 8  when WIDER == 1 && N > 32
//! preset  LANES = 128, THREADS = 128, PACKS = 8, BYTES = 8  when WIDER == 1 && N > 32
//! preset  LANES = 256, THREADS = 256, PACKS = 8, BYTES = 8  when WIDER == 1 && N > 32
//! preset  LANES = 2, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 4  when sizeof(T) == 2 && N > 32
//! preset  LANES = 4, THREADS = 256, PACKS = 2
//! preset  LANES = 8, THREADS = 256, PACKS = 2
//! preset  LANES = 16, THREADS = 256, PACKS = 2
//! preset  LANES = 32, THREADS = 128, PACKS = 4  when sizeof(T) == 2 && N > 256
//! preset  LANES = 32, THREADS = 256, PACKS = 2
//! preset  LANES = 32, THREADS = 128, PACKS = 4
//! preset  LANES = 128, THREADS = 128, PACKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 4
//! preset  LANES = 1024, THREADS = 1024, PACKS = 4  when M >= device.sm_count

#include "device/ptx/cvt.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/row_scan.cuh"

extern "C" __global__ __launch_bounds__(THREADS) void scan(View<const T, 2> X, View<const u8, 2> B, View<O, 2> Y,
                                                           f32 neutral, const Dims dims,
                                                           const __grid_constant__ Hooks hooks) {
  const ScanOperation<OP, SEGMENTED != 0, f32, Hooks> op = {hooks, neutral};
  scan_rows<EXCLUSIVE != 0, THREADS, LANES, PACKS, COUNT>(X, B, Y, dims.M, dims.N, op);
}

#else

using Number = f64;
using Given = f32;
#include "device/reference/scan.cuh"

#endif

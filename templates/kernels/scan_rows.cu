//! kernel  scan     "Y[i,j] = output(combination of input(X[i,k]) over k <= j, or k < j): running sums, maxima, minima or a combination of yours, over rows or segments of them"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = f32   in {f32, bf16, f16}      "elements of X"
//! type    O       = f32   in {f32, bf16, f16}      "elements of Y"
//! dim     M               in 0..2147483647
//! dim     N               in 0..2147418112
//!
//! param   OP      = 0     in {0, 2, 3, 5}          "0: sum, 2: maximum, 3: minimum (NaN from the first element that is), 5: combine"
//! param   EXCLUSIVE = 0   in {0, 1}                "0: over k <= j; 1: over k < j, so that a row begins with the neutral element"
//! param   SEGMENTED = 0   in {0, 1}                "1: the combination begins anew where B is not 0"
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {2, 4, 8, 16, 32, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of 16 bytes of a row that a thread has in flight"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * PACKS * COUNT          "elements of a row that its threads hold"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require N + (alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require PACKS * THREADS <= 4096                  "what a thread holds must fit into registers"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require SEGMENTED == 0 || stride(B, 1) == 1      "elements of a row of B are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//!
//! tensor  X : T[M, N]
//! tensor  B : u8[M, N]    when SEGMENTED == 1
//! tensor  Y : O[M, N]  out
//! scalar  neutral : f32 = 0                        "combine(x, neutral) and combine(neutral, x) are x"
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//! hook    combine(f32 a when OP == 5, f32 b when OP == 5) : f32 = 0  "of elements a before elements b; associative"
//! hook    output(f32 y, s32 row, s32 column) : f32 = y  "applied to each result"
//!
//! launch  grid ceil_div(M, ROWS)  block THREADS
//! work    flops M * N  bytes M * N * (sizeof(T) + sizeof(O) + SEGMENTED)
//! reference scan_reference  grid min(M, 65536)  block 256  bits OP != 5 || N <= 1024 ? 0 : N <= 65536 ? 10 : 6 "every step of a combination may round"
//!
//! preset  LANES = 2, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 1
//! preset  LANES = 4, THREADS = 256, PACKS = 2
//! preset  LANES = 8, THREADS = 256, PACKS = 2
//! preset  LANES = 16, THREADS = 256, PACKS = 2
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
  scan_rows<EXCLUSIVE != 0, THREADS, LANES, PACKS>(X, B, Y, dims.M, dims.N, op);
}

#else

using Number = f64;
using Given = f32;
#include "device/reference/scan.cuh"

#endif

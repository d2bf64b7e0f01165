#pragma once
// What the float64 references of norms share whose results are quantized: each has a block of 256 for each row.
//
// What these kernels share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X, S, weights and biases"
//! dim     M, N            in 0..2147483647
//!
//! param   SCALES  = 2     in {0, 1, 2}             "0: GIVEN is the scale of all; 1: each row has one; 2: each 128 columns of a row, from column 0 on"
//! param   SUM     = 0     in {0, 1}                "1: x is stored too: with input = x + residual[row, column] the sum that the next layer adds to"
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {16, 32, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread at a time"
//! param   KEPT    = 1     in {1, 0}                "1: a row is kept in registers; 0: each pass over it reads it again, in parts"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold at a time"
//! let     GROUPS  = SCALES == 2 ? ceil_div(N, 128) : 1 "scales of a row"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one row"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require SCALES != 2 || LANES * COUNT >= 128      "128 columns are some lanes' of a warp"
//! require KEPT == 1 || LANES == THREADS            "a row that is read in parts is a block's"
//! require KEPT == 0 || N + (SCALES == 2 || (alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0) ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Q) % 16 == 0 && stride(Q, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require WHOLE == 0 || SUM == 0 || (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0) "rows of S are stored in packs"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Q, 1) == 1                        "elements of a row of Q are neighbours"
//! require SUM == 0 || stride(S, 1) == 1            "elements of a row of S are neighbours"
//!
//! tensor  X : T[M, N]
//! tensor  GIVEN : f32[1]  when SCALES == 0
//! tensor  Q : e4m3[M, N]  out
//! tensor  SCALE : f32[M, GROUPS]  out  when SCALES >= 1
//! tensor  S : T[M, N]  out  when SUM == 1
//! scalar  eps : f32 = 0.00001
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x   "applied to each element first"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(M, ROWS) * CLUSTER  block THREADS
//! work    flops 8 * M * N  bytes M * N * (sizeof(T) + 1 + SUM * sizeof(T)) + (SCALES > 0) * M * GROUPS * 4
//! reference norm_quantize_reference  grid min(M, 65536)  block 256
//!
//! preset  LANES = 16, THREADS = 256, PACKS = 1
//! preset  LANES = 32, THREADS = 256, PACKS = 1
//! preset  LANES = 32, THREADS = 256, PACKS = 2
//! preset  LANES = 32, THREADS = 128, PACKS = 4
//! preset  LANES = 128, THREADS = 128, PACKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 4
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, CLUSTER = 8, PACKS = 2  when device.cluster_max >= 8 && device.threads_per_sm >= 2048
//! preset  LANES = 512, THREADS = 512, PACKS = 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 2, KEPT = 0  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, PACKS = 1, KEPT = 0
//! preset  LANES = 32, THREADS = 256, PACKS = 1, WHOLE = 0
//! preset  LANES = 128, THREADS = 128, PACKS = 4, WHOLE = 0
//! preset  LANES = 512, THREADS = 512, PACKS = 8, WHOLE = 0
//! preset  LANES = 512, THREADS = 512, PACKS = 2, KEPT = 0, WHOLE = 0
#include "device/reference/quantize.cuh"

// Stores a row whose inputs are x(j) and results y(j).
template <class X, class Y>
__device__ inline void store_row(s64 row, X x, Y y, const View<const f32, 1>& GIVEN, const View<f64, 2>& Q,
                                 const View<f64, 2>& SCALE, const View<f64, 2>& S, const Dims& dims) {
  quantize_row<SCALES>(row, dims.N, y, GIVEN, Q, SCALE);
  for (s64 j = threadIdx.x; SUM && j < dims.N; j += 256) S.data[row * S.stride[0] + j * S.stride[1]] = x(j);
}

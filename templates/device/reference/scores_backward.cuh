#pragma once
// The gradient of scores from that of their softmax, or of its logarithm if the including template's kLogarithm is
// true, and its float64 reference, a block for each row.
//
// What these kernels share of their manifests, which `use` this:
//! type    T       = f32   in {f32, bf16, f16}      "elements of Y and DY"
//! type    O       = f32   in {f32, bf16, f16}      "elements of DS"
//! dim     M, N            in 0..2147483647
//!
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {2, 4, 8, 16, 32, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread at a time"
//! param   KEPT    = 1     in {0, 1}                "1: a row is kept in registers; 0: each pass over it reads it again, in parts"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold at a time"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one row"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require KEPT == 1 || LANES == THREADS            "a row that is read in parts is a block's"
//! require KEPT == 0 || N + (alignment(Y) % 16 == 0 && stride(Y, 0) % COUNT == 0 ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(Y) % 16 == 0 && stride(Y, 0) % COUNT == 0 && alignment(DY) % 16 == 0 && stride(DY, 0) % COUNT == 0 && alignment(DS) % 16 == 0 && stride(DS, 0) * sizeof(O) % 16 == 0) "rows begin at 16 bytes and are whole packs"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 16384 "what a thread holds must fit into registers"
//! require stride(Y, 1) == 1 && stride(DY, 1) == 1  "elements of a row of Y and of DY are neighbours"
//! require stride(DS, 1) == 1                       "elements of a row of DS are neighbours"
//!
//! tensor  Y  : T[M, N]
//! tensor  DY : T[M, N]
//! tensor  DS : O[M, N]  out
//!
//! hook    output(f32 ds, s32 row, s32 column) : f32 = ds  "applied to each result, such as a factor of the scores"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(M, ROWS) * CLUSTER  block THREADS
//! work    flops 4 * M * N  bytes M * N * (2 * sizeof(T) + sizeof(O))
//! reference scores_backward_reference  grid min(M, 65536)  block 256
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
//! preset  LANES = 512, THREADS = 512, PACKS = 8  when sizeof(T) == 4 && M >= device.sm_count
//! preset  LANES = 256, THREADS = 256, CLUSTER = 4, PACKS = 4  when device.cluster_max >= 4
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 8  when device.cluster_max >= 8 && sizeof(T) == 4
//! preset  LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4, KEPT = 0  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0
//! preset  LANES = 4, THREADS = 256, PACKS = 2, WHOLE = 0
//! preset  LANES = 256, THREADS = 256, PACKS = 4, WHOLE = 0
//! preset  LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0, WHOLE = 0
#include "device/reference/row_reduce.cuh"

extern "C" __global__ void scores_backward_reference(View<const T, 2> Y, View<const T, 2> DY, View<f64, 2> DS,
                                                     const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto y = [&](s64 j) {
      const f64 y = to_f64(Y.data[row * Y.stride[0] + j * Y.stride[1]]);
      return kLogarithm ? exp(y) : y;
    };
    const auto dy = [&](s64 j) { return to_f64(DY.data[row * DY.stride[0] + j * DY.stride[1]]); };
    const f64 sum = row_sum(dims.N, [&](s64 j) { return kLogarithm ? dy(j) : y(j) * dy(j); });
    for (s64 j = threadIdx.x; j < dims.N; j += blockDim.x)
      DS.data[row * DS.stride[0] + j * DS.stride[1]] =
          hooks.output(kLogarithm ? dy(j) - sum * y(j) : (dy(j) - sum) * y(j), row, j);
  }
}

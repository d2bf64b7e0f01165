#pragma once
// The float64 reference of `softmax`, a block for each row.
//
// What the files of the kernel softmax share of their manifests, which `use` this:
//! type    T       = f32   in {f32, bf16, f16}      "elements of S"
//! type    O       = f32   in {f32, bf16, f16}      "elements of D"
//! dim     M, N            in 0..2147483647
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//!
//! tensor  S : T[M, N]
//! tensor  D : O[M, N]  out
//!
//! hook    score(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//!
//! work    flops 5 * M * N  bytes M * N * (sizeof(T) + sizeof(O))
//! reference softmax_reference  grid min(M, 65536)  block 256
#include "device/reference/row_reduce.cuh"

// One block per row.
extern "C" __global__ void softmax_reference(View<const T, 2> S, View<f64, 2> D, const Dims dims,
                                             const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto score = [&](s64 j) { return hooks.score(to_f64(S.data[row * S.stride[0] + j * S.stride[1]]), row, j); };
    const f64 log_sum = row_log_sum_exp(dims.N, score);
    for (s64 j = threadIdx.x; j < dims.N; j += 256)
      D.data[row * D.stride[0] + j * D.stride[1]] = exp(score(j) - log_sum);
  }
}

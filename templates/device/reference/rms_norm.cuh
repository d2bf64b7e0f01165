#pragma once
// The float64 reference of `rms_norm`, a block for each row.
//
// What the files of the kernel rms_norm share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X, W and S"
//! type    O       = bf16  in {f32, bf16, f16}      "elements of Y"
//! dim     M, N            in 0..2147483647
//!
//! param   WEIGHT  = 1     in {0, 1}                "1: there is a W"
//! param   SUM     = 0     in {0, 1}                "1: x is stored too: with input = x + residual[row, column] the sum that the next layer adds to"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//!
//! tensor  X : T[M, N]
//! tensor  W : T[N]  when WEIGHT == 1
//! tensor  Y : O[M, N]  out
//! tensor  S : T[M, N]  out  when SUM == 1
//! scalar  eps : f32 = 0.00001
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x   "applied to each element first"
//! hook    output(f32 y, s32 row, s32 column) : f32 = y  "applied to each result"
//!
//! work    flops 4 * M * N  bytes M * N * (sizeof(T) + sizeof(O) + SUM * sizeof(T)) + WEIGHT * N * sizeof(T)
//! reference rms_norm_reference  grid min(M, 65536)  block 256
#include "device/reference/row_reduce.cuh"

// One block per row.
extern "C" __global__ void rms_norm_reference(View<const T, 2> X, View<const T, 1> W, View<f64, 2> Y, View<f64, 2> S,
                                              f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto input = [&](s64 j) { return hooks.input(to_f64(X.data[row * X.stride[0] + j * X.stride[1]]), row, j); };
    const f64 squares = row_sum(dims.N, [&](s64 j) { return input(j) * input(j); });
    for (s64 j = threadIdx.x; j < dims.N; j += blockDim.x) {
      const f64 y = input(j) / sqrt(squares / static_cast<f64>(dims.N) + eps);
      if (SUM) S.data[row * S.stride[0] + j * S.stride[1]] = input(j);
      Y.data[row * Y.stride[0] + j * Y.stride[1]] =
          hooks.output(WEIGHT ? y * to_f64(W.data[j * W.stride[0]]) : y, row, j);
    }
  }
}

#pragma once
// The float64 reference of `group_norm`, a block for each group.
//
// What the files of the kernel group_norm share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X, W and B"
//! type    O       = bf16  in {f32, bf16, f16}      "elements of Y"
//! dim     N, C, S         in 0..2147483647         "batch, channels, and elements of a channel, such as height times width"
//! dim     G               in 1..65536              "groups"
//!
//! param   AFFINE  = 2     in {0, 1, 2}             "1: there is a W; 2: and a B"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     LENGTH  = C / G * S                      "elements of a group, which are neighbours"
//!
//! require C % G == 0                               "every group has as many channels"
//! require LENGTH <= 2147483647 && N * G <= 2147483647 "groups and the elements of one are counted in 31 bits"
//! require N == 0 || S == 0 || ((S == 1 || stride(X, 2) == 1) && (C <= 1 || stride(X, 1) == S)) "elements of a group of X are neighbours"
//! require N == 0 || S == 0 || ((S == 1 || stride(Y, 2) == 1) && (C <= 1 || stride(Y, 1) == S)) "elements of a group of Y are neighbours"
//!
//! tensor  X : T[N, C, S]
//! tensor  W : T[C]  when AFFINE >= 1
//! tensor  B : T[C]  when AFFINE >= 2
//! tensor  Y : O[N, C, S]  out
//! scalar  eps : f32 = 0.00001
//!
//! hook    input(f32 x, s32 n, s32 c, s32 s) : f32 = x   "applied to each element first"
//! hook    output(f32 y, s32 n, s32 c, s32 s) : f32 = y  "applied to each result"
//!
//! work    flops 8 * N * C * S  bytes N * C * S * (sizeof(T) + sizeof(O)) + AFFINE * C * sizeof(T)
//! reference group_norm_reference  grid min(N * G, 65536)  block 256
#include "device/reference/row_reduce.cuh"

// One block per group.
extern "C" __global__ void group_norm_reference(View<const T, 3> X, View<const T, 1> W, View<const T, 1> B,
                                                View<f64, 3> Y, f32 eps, const Dims dims,
                                                const __grid_constant__ Hooks hooks) {
  const s64 channels = dims.C / dims.G, length = channels * dims.S;
  for (s64 group = blockIdx.x; group < s64{dims.N} * dims.G; group += gridDim.x) {
    const s64 n = group / dims.G, first = group % dims.G * channels;
    const auto input = [&](s64 j) {
      const s64 c = first + j / dims.S, s = j % dims.S;
      return hooks.input(to_f64(X.data[n * X.stride[0] + c * X.stride[1] + s * X.stride[2]]), n, c, s);
    };
    const f64 mean = row_sum(length, input) / length;
    const f64 squares = row_sum(length, [&](s64 j) { return (input(j) - mean) * (input(j) - mean); });
    for (s64 j = threadIdx.x; j < length; j += blockDim.x) {
      const s64 c = first + j / dims.S, s = j % dims.S;
      f64 y = (input(j) - mean) / sqrt(squares / length + eps);
      if (AFFINE >= 1) y *= to_f64(W.data[c * W.stride[0]]);
      if (AFFINE >= 2) y += to_f64(B.data[c * B.stride[0]]);
      Y.data[n * Y.stride[0] + c * Y.stride[1] + s * Y.stride[2]] = hooks.output(y, n, c, s);
    }
  }
}

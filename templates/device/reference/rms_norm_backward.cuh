#pragma once
// The float64 reference of `rms_norm_backward`.
//
// What the files of the kernel rms_norm_backward share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X, W, DY and DX"
//! type    G       = f32   in {f32, bf16, f16}      "elements of DW"
//! dim     M, N            in 0..2147483647
//!
//! param   WEIGHT  = 1     in {0, 1}                "1: there is a W"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//!
//! require stride(X, 1) == 1 && stride(DY, 1) == 1  "elements of a row of X and of DY are neighbours"
//! require stride(DX, 1) == 1                       "elements of a row of DX are neighbours"
//! require WEIGHT == 0 || stride(W, 0) == 1         "elements of W are neighbours"
//!
//! tensor  X  : T[M, N]
//! tensor  W  : T[N]  when WEIGHT == 1
//! tensor  DY : T[M, N]
//! tensor  DX : T[M, N]  out
//! tensor  DW : G[N]  out  when WEIGHT == 1
//! scalar  eps : f32 = 0.00001
//!
//! hook    output(f32 dx, s32 row, s32 column) : f32 = dx  "applied to each element of DX, such as another gradient added to it"
//!
//! work    flops 10 * M * N  bytes 3 * M * N * sizeof(T) + WEIGHT * N * (sizeof(T) + sizeof(G))
//! reference rms_norm_backward_reference  grid max(min(M, 65536), ceil_div(N, 256), 1)  block 256  bits N == 1 ? 6 : 0 "what a row of one element gives cancels but for eps"
#include "device/reference/row_reduce.cuh"

// One block per row for DX, and one per 256 columns for DW.
extern "C" __global__ void rms_norm_backward_reference(View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY,
                                                       View<f64, 2> DX, View<f64, 1> DW, f32 eps, const Dims dims,
                                                       const __grid_constant__ Hooks hooks) {
  const auto x = [&](s64 i, s64 j) { return to_f64(X.data[i * X.stride[0] + j * X.stride[1]]); };
  const auto dy = [&](s64 i, s64 j) { return to_f64(DY.data[i * DY.stride[0] + j * DY.stride[1]]); };
  const auto g = [&](s64 i, s64 j) { return WEIGHT ? dy(i, j) * to_f64(W.data[j * W.stride[0]]) : dy(i, j); };
  const auto scale = [&](s64 i) {
    return 1 / sqrt(row_sum(dims.N, [&](s64 j) { return x(i, j) * x(i, j); }) / dims.N + eps);
  };
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const f64 r = scale(row), mean = row_sum(dims.N, [&](s64 j) { return g(row, j) * x(row, j) * r; }) / dims.N;
    for (s64 j = threadIdx.x; j < dims.N; j += blockDim.x)
      DX.data[row * DX.stride[0] + j * DX.stride[1]] = hooks.output(r * (g(row, j) - x(row, j) * r * mean), row, j);
  }
  for (s64 first = blockIdx.x * 256; WEIGHT && first < dims.N; first += gridDim.x * 256) {
    const s64 j = first + threadIdx.x;
    f64 sum = 0;
    for (s64 i = 0; i < dims.M; ++i) {
      const f64 r = scale(i);
      if (j < dims.N) sum += dy(i, j) * x(i, j) * r;
    }
    if (j < dims.N) DW.data[j * DW.stride[0]] = sum;
  }
}

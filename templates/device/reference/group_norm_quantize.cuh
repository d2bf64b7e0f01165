#pragma once
// The float64 reference of `group_norm_quantize`, a block for each group.
//
// What the files of the kernel group_norm_quantize share of their manifests, which `use` this, after what
// channel_groups.cuh has:
//! param   SCALES  = 1     in {0, 1}                "0: GIVEN is the scale of all; 1: each group has one"
//!
//! require N == 0 || S == 0 || ((S == 1 || stride(Q, 2) == 1) && (C <= 1 || stride(Q, 1) == S)) "elements of a group of Q are neighbours"
//! require SCALES == 0 || ((G <= 1 || stride(SCALE, 1) == 1) && (N <= 1 || stride(SCALE, 0) == G)) "scales are neighbours"
//!
//! tensor  GIVEN : f32[1]  when SCALES == 0
//! tensor  Q : e4m3[N, C, S]  out
//! tensor  SCALE : f32[N, G]  out  when SCALES == 1
//!
//! work    flops 8 * N * C * S  bytes N * C * S * (sizeof(T) + 1) + AFFINE * C * sizeof(T) + SCALES * N * G * 4
//! reference group_norm_quantize_reference  grid min(N * G, 65536)  block 256
#include "device/reference/channel_groups.cuh"
#include "device/reference/quantize.cuh"
#include "device/tile/group_rows.cuh"

extern "C" __global__ void group_norm_quantize_reference(View<const T, 3> X, View<const T, 1> W, View<const T, 1> B,
                                                         View<const f32, 1> GIVEN, View<f64, 3> Q, View<f64, 2> SCALE,
                                                         f32 eps, const Dims dims,
                                                         const __grid_constant__ Hooks hooks) {
  const View<f64, 2> scales = {SCALE.data, {1, 1}};
  for (s64 group = blockIdx.x; group < s64{dims.N} * dims.G; group += gridDim.x) {
    const ReferenceGroup<AFFINE, T> y(group, X, W, B, eps, dims, hooks);
    quantize_row<SCALES>(group, y.length, y, GIVEN, groups_of(Q, y.n, dims.G, y.length), scales);
  }
}

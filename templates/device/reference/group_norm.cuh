#pragma once
// The float64 reference of `group_norm`, a block for each group.
//
// What the files of the kernel group_norm share of their manifests, which `use` this, after what channel_groups.cuh
// has:
//! type    O       = bf16  in {f32, bf16, f16}      "elements of Y"
//!
//! require N == 0 || S == 0 || ((S == 1 || stride(Y, 2) == 1) && (C <= 1 || stride(Y, 1) == S)) "elements of a group of Y are neighbours"
//!
//! tensor  Y : O[N, C, S]  out
//!
//! hook    output(f32 y, s32 n, s32 c, s32 s) : f32 = y  "applied to each result"
//!
//! work    flops 8 * N * C * S  bytes N * C * S * (sizeof(T) + sizeof(O)) + AFFINE * C * sizeof(T)
//! reference group_norm_reference  grid min(N * G, 65536)  block 256
#include "device/reference/channel_groups.cuh"

extern "C" __global__ void group_norm_reference(View<const T, 3> X, View<const T, 1> W, View<const T, 1> B,
                                                View<f64, 3> Y, f32 eps, const Dims dims,
                                                const __grid_constant__ Hooks hooks) {
  for (s64 group = blockIdx.x; group < s64{dims.N} * dims.G; group += gridDim.x) {
    const ReferenceGroup<AFFINE, T> y(group, X, W, B, eps, dims, hooks);
    for (s64 j = threadIdx.x; j < y.length; j += blockDim.x) {
      const s64 c = y.channel(j), s = j % dims.S;
      Y.data[y.n * Y.stride[0] + c * Y.stride[1] + s * Y.stride[2]] = hooks.output(y(j), y.n, c, s);
    }
  }
}

#pragma once
// The float64 reference of `group_norm_backward`: a block for each group of a batch finds DX, and one for each group
// DW and DB, whose sums grow by a batch after the other.
//
// What the files of the kernel group_norm_backward share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X, W, DY and DX"
//! type    D       = f32   in {f32, bf16, f16}      "elements of DW and DB"
//! dim     N, C, S         in 0..2147483647         "batch, channels, and elements of a channel, such as height times width"
//! dim     G               in 1..65536              "groups"
//!
//! param   AFFINE  = 2     in {0, 1, 2}             "1: there is a W; 2: and a B"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     CHANNELS = C / G                         "of a group"
//!
//! require C % G == 0                               "every group has as many channels"
//! require S <= 1 || (stride(X, 2) == 1 && stride(DY, 2) == 1 && stride(DX, 2) == 1) "elements of a channel are neighbours"
//!
//! tensor  X  : T[N, C, S]
//! tensor  W  : T[C]  when AFFINE >= 1
//! tensor  DY : T[N, C, S]
//! tensor  DX : T[N, C, S]  out
//! tensor  DW : D[C]  out  when AFFINE >= 1
//! tensor  DB : D[C]  out  when AFFINE >= 2
//! scalar  eps : f32 = 0.00001
//!
//! hook    output(f32 dx, s32 n, s32 c, s32 s) : f32 = dx  "applied to each element of DX, such as another gradient added to it"
//!
//! work    flops 14 * N * C * S  bytes 3 * N * C * S * sizeof(T) + C * ((AFFINE > 0) * sizeof(T) + AFFINE * sizeof(D))
//! reference group_norm_backward_reference  grid min(max(N, 1) * G, 65536)  block 256  bits CHANNELS * S == 2 ? 6 : 0 "what a group of two elements gives cancels but for eps"
#include "device/ptx/cvt.cuh"
#include "device/reference/row_reduce.cuh"

extern "C" __global__ void group_norm_backward_reference(View<const T, 3> X, View<const T, 1> W, View<const T, 3> DY,
                                                         View<f64, 3> DX, View<f64, 1> DW, View<f64, 1> DB, f32 eps,
                                                         const Dims dims, const __grid_constant__ Hooks hooks) {
  const s64 channels = dims.C / dims.G, length = channels * dims.S;
  const auto at = [&](const View<const T, 3>& of, s64 n, s64 c, s64 s) {
    return to_f64(of.data[n * of.stride[0] + c * of.stride[1] + s * of.stride[2]]);
  };
  const auto weight = [&](s64 c) { return AFFINE > 0 ? to_f64(W.data[c * W.stride[0]]) : 1.0; };
  // The mean and the deviation's inverse of a group.
  const auto moments = [&](s64 n, s64 g, f64& mean, f64& r) {
    const auto x = [&](s64 j) { return at(X, n, g * channels + j / dims.S, j % dims.S); };
    mean = row_sum(length, x) / length;
    r = 1 / sqrt(row_sum(length, [&](s64 j) { return (x(j) - mean) * (x(j) - mean); }) / length + eps);
  };
  f64 mean, r;
  for (s64 group = blockIdx.x; length > 0 && group < s64{dims.N} * dims.G; group += gridDim.x) {
    const s64 n = group / dims.G, first = group % dims.G * channels;
    moments(n, group % dims.G, mean, r);
    const auto g = [&](s64 j) { return at(DY, n, first + j / dims.S, j % dims.S) * weight(first + j / dims.S); };
    const auto h = [&](s64 j) { return (at(X, n, first + j / dims.S, j % dims.S) - mean) * r; };
    const f64 mean_g = row_sum(length, g) / length;
    const f64 mean_gh = row_sum(length, [&](s64 j) { return g(j) * h(j); }) / length;
    for (s64 j = threadIdx.x; j < length; j += blockDim.x) {
      const s64 c = first + j / dims.S, s = j % dims.S;
      DX.data[n * DX.stride[0] + c * DX.stride[1] + s * DX.stride[2]] =
          hooks.output(r * (g(j) - mean_g - h(j) * mean_gh), n, c, s);
    }
  }
  for (s64 group = blockIdx.x; AFFINE > 0 && group < dims.G; group += gridDim.x) {
    for (s64 n = 0; n == 0 || n < dims.N; ++n) {
      const bool any = n < dims.N && length > 0;
      if (any) moments(n, group, mean, r);
      for (s64 c = group * channels; c < (group + 1) * channels; ++c) {
        const s64 size = any ? dims.S : 0;
        const f64 dw = row_sum(size, [&](s64 s) { return at(DY, n, c, s) * (at(X, n, c, s) - mean) * r; });
        const f64 db = row_sum(size, [&](s64 s) { return at(DY, n, c, s); });
        if (threadIdx.x > 0) continue;
        f64& weights = DW.data[c * DW.stride[0]];
        weights = (n > 0 ? weights : 0) + dw;
        if (AFFINE < 2) continue;
        f64& biases = DB.data[c * DB.stride[0]];
        biases = (n > 0 ? biases : 0) + db;
      }
    }
  }
}

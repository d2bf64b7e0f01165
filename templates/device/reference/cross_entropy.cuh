#pragma once
// The float64 reference of `cross_entropy`, a block for each row.
//
// What the files of the kernel cross_entropy share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of S"
//! type    I       = s32   in {s32, s64}            "labels; those outside of 0..N-1 mark rows that do not count"
//! dim     M, N            in 0..2147483647
//!
//! tensor  S : T[M, N]
//! tensor  L : I[M]  in 0..N - 1  checked
//! tensor  Y : f32[M]  out
//!
//! hook    score(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//!
//! work    flops 4 * M * N  bytes M * (N * sizeof(T) + sizeof(I) + 4)
//! reference cross_entropy_reference  grid min(M, 65536)  block 256
#include "device/reference/row_reduce.cuh"

// One block per row.
extern "C" __global__ void cross_entropy_reference(View<const T, 2> S, View<const I, 1> L, View<f64, 1> Y,
                                                   const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto score = [&](s64 j) { return hooks.score(to_f64(S.data[row * S.stride[0] + j * S.stride[1]]), row, j); };
    const f64 log_sum = row_log_sum_exp(dims.N, score);
    const s64 label = L.data[row * L.stride[0]];
    if (threadIdx.x == 0) Y.data[row * Y.stride[0]] = label < 0 || label >= dims.N ? 0 : log_sum - score(label);
  }
}

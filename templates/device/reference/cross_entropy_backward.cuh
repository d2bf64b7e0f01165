#pragma once
// The float64 reference of `cross_entropy_backward`, a block for each row.
//
// What the files of the kernel cross_entropy_backward share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of S and DS"
//! type    I       = s32   in {s32, s64}            "labels; those outside of 0..N-1 mark rows that do not count"
//! dim     M, N            in 0..2147483647
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//!
//! require stride(S, 1) == 1                        "elements of a row of S are neighbours"
//! require stride(DS, 1) == 1                       "elements of a row of DS are neighbours"
//!
//! tensor  S : T[M, N]
//! tensor  L : I[M]  in 0..N - 1  checked
//! tensor  G : f32[M]
//! tensor  DS : T[M, N]  out
//!
//! work    flops 5 * M * N  bytes M * (2 * N * sizeof(T) + sizeof(I) + 4)
//! reference cross_entropy_backward_reference  grid min(M, 65536)  block 256
#include "device/reference/row_reduce.cuh"

// One block per row.
extern "C" __global__ void cross_entropy_backward_reference(View<const T, 2> S, View<const I, 1> L,
                                                            View<const f32, 1> G, View<f64, 2> DS, const Dims dims) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto score = [&](s64 j) { return to_f64(S.data[row * S.stride[0] + j * S.stride[1]]); };
    const f64 log_sum = row_log_sum_exp(dims.N, score), gradient = to_f64(G.data[row * G.stride[0]]);
    const s64 label = L.data[row * L.stride[0]];
    const bool counts = label >= 0 && label < dims.N;
    for (s64 j = threadIdx.x; j < dims.N; j += blockDim.x)
      DS.data[row * DS.stride[0] + j * DS.stride[1]] =
          counts ? (exp(score(j) - log_sum) - (j == label ? 1 : 0)) * gradient : 0;
  }
}

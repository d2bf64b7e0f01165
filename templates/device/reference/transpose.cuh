#pragma once
// The float64 reference of the kernels that transpose matrices.
//
// What the files of the kernel transpose share of their manifests, which `use` this:
//! type    T       = u8  in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     B, M, N       in 0..2147483647           "B matrices S[b] of M by N"
//!
//! tensor  S : T[B, M, N]
//! tensor  D : T[B, N, M]  out
//!
//! work    flops 0  bytes 2 * B * M * N * sizeof(T)
//! reference transpose_reference  grid min(ceil_div(B * M * N, 256), 65536)  block 256
#include "device/ptx/cvt.cuh"

template <class T>
__device__ inline void reference_transpose(const View<const T, 3>& S, const View<f64, 3>& D, s64 batch, s64 rows,
                                           s64 columns) {
  const s64 count = batch * rows * columns;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += s64{gridDim.x} * blockDim.x) {
    const s64 b = i / (rows * columns), row = i / columns % rows, column = i % columns;
    D.data[b * D.stride[0] + column * D.stride[1] + row * D.stride[2]] =
        to_f64(S.data[b * S.stride[0] + row * S.stride[1] + column * S.stride[2]]);
  }
}

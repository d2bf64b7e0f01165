#pragma once
// The float64 reference of the gather kernels, written independently of them.
//
// What the files of the kernel gather share of their manifests, which `use` this:
//! type    T       = f32  in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! reference gather_reference  grid min(COUNT, 65536)  block 256
#include "device/ptx/cvt.cuh"

// D[i] = S[I[i]] for `count` rows of `columns` elements; an index that is not below `rows`, or is negative, gives
// zeros.
template <class T, class J>
__device__ inline void reference_gather(const View<const T, 2>& S, const View<const J, 1>& I, const View<f64, 2>& D,
                                        s64 rows, s64 columns, s64 count) {
  for (s64 i = blockIdx.x; i < count; i += gridDim.x) {
    const s64 row = I.data[i * I.stride[0]];
    for (s64 c = threadIdx.x; c < columns; c += blockDim.x)
      D.data[i * D.stride[0] + c * D.stride[1]] =
          row >= 0 && row < rows ? to_f64(S.data[row * S.stride[0] + c * S.stride[1]]) : 0;
  }
}

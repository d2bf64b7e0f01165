#pragma once
// The float64 reference of the kernels that copy matrices.
#include "device/ptx/cvt.cuh"

template <class T>
__device__ inline void reference_copy(const View<const T, 2>& S, const View<f64, 2>& D, s64 rows, s64 columns) {
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < rows * columns; i += s64{gridDim.x} * blockDim.x)
    D.data[i / columns * D.stride[0] + i % columns * D.stride[1]] =
        to_f64(S.data[i / columns * S.stride[0] + i % columns * S.stride[1]]);
}

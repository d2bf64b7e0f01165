#pragma once
// The float64 reference of the kernels that transpose matrices.
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

#pragma once
// The float64 reference of the kernels that permute dimensions.
#include "device/ptx/cvt.cuh"

// Dimension k of D is dimension order[k] of S, whose extents are `extent`.
template <class T>
__device__ inline void reference_permute(const View<const T, 5>& S, const View<f64, 5>& D, const int (&extent)[5],
                                         const int (&order)[5]) {
  s64 count = 1;
  for (const int n : extent) count *= n;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += s64{gridDim.x} * blockDim.x) {
    s64 rest = i, index[5], from = 0, to = 0;
    for (int d = 4; d >= 0; rest /= extent[d--]) index[d] = rest % extent[d];
    for (int d = 0; d < 5; ++d) from += index[d] * S.stride[d], to += index[order[d]] * D.stride[d];
    D.data[to] = to_f64(S.data[from]);
  }
}

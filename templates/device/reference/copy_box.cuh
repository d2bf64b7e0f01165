#pragma once
// The float64 reference of `concat` and `split`.
#include "device/ptx/cvt.cuh"

// Copies from index `first` of the middle dimension of `from` on to that from `target` on, `m` by `n` by `k` elements.
template <class T>
__device__ inline void reference_box(const View<f64, 3>& to, s64 target, const View<const T, 3>& from, s64 first, s64 m,
                                     s64 n, s64 k) {
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < m * n * k; i += s64{gridDim.x} * blockDim.x) {
    const s64 row = i / k / n, middle = i / k % n, column = i % k;
    to.data[row * to.stride[0] + (target + middle) * to.stride[1] + column * to.stride[2]] =
        to_f64(from.data[row * from.stride[0] + (first + middle) * from.stride[1] + column * from.stride[2]]);
  }
}

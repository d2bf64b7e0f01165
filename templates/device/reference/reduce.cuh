#pragma once
// The float64 reference of `reduce`, a block for each result. The including template declares OP.
#include "device/ptx/cvt.cuh"
#include "device/reference/row_reduce.cuh"
#include "device/tile/reduce_operation.cuh"

extern "C" __global__ void reduce_reference(View<const T, 3> X, View<f64, 2> Y, f32 neutral, const Dims dims,
                                            const __grid_constant__ Hooks hooks) {
  const Operation<OP, f64, Hooks> op = {hooks, neutral, dims.K};
  for (s64 index = blockIdx.x; index < s64{dims.M} * dims.N; index += gridDim.x) {
    const s64 m = index / dims.N, n = index % dims.N;
    const T* const x = &X.data[m * X.stride[0] + n * X.stride[2]];
    const f64 all = row_reduce(
        dims.K, op.neutral(), [&](s64 k) { return op.element(to_f64(x[k * X.stride[1]]), m, k, n); },
        [&](f64 a, f64 b) { return op.combine(a, b); });
    if (threadIdx.x == 0) Y.data[m * Y.stride[0] + n * Y.stride[1]] = op.result(all, m, n);
  }
}

#pragma once
// The float64 reference of `scan`, a block for each row. The including template declares OP, SEGMENTED, EXCLUSIVE and
// Number, what it combines in, and Given, the type of the scalar `neutral`.
#include "device/tile/scan_operation.cuh"

extern "C" __global__ void scan_reference(View<const T, 2> X, View<const u8, 2> B, View<f64, 2> Y, Given neutral,
                                          const Dims dims, const __grid_constant__ Hooks hooks) {
  using Op = ScanOperation<OP, SEGMENTED != 0, Number, Hooks>;
  const Op op = {hooks, static_cast<Number>(neutral)};
  __shared__ Part<Number> parts[256];
  const int share = ceil_div(dims.N, 256), first = min(s64{share} * threadIdx.x, s64{dims.N}),
            end = min(share, dims.N - first) + first;
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto element = [&](s64 j) -> Part<Number> {
      return {op.element(X.data[row * X.stride[0] + j * X.stride[1]], row, j),
              SEGMENTED != 0 && B.data[row * B.stride[0] + j * B.stride[1]] != 0};
    };
    Part<Number> part = op.neutral();
    for (int j = first; j < end; ++j) part = op.joined(part, element(j));
    parts[threadIdx.x] = part;
    __syncthreads();
    Part<Number> before = op.neutral();
    for (int i = 0; i < threadIdx.x; ++i) before = op.joined(before, parts[i]);
    for (int j = first; j < end; ++j) {
      const Number y = op.template next<EXCLUSIVE != 0>(before, element(j));
      Y.data[row * Y.stride[0] + j * Y.stride[1]] = op.template result<f64>(y, row, j);
    }
    __syncthreads();
  }
}

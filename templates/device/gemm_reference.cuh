#pragma once
// The float64 reference that every gemm file shares. T, O, Dims and the hook `epilogue` are the template's.
#include "device/convert.cuh"

#ifdef TMA_JIT_REFERENCE
extern "C" __global__ void gemm_reference(View<const T, 2> A, View<const T, 2> B, View<f64, 2> D, const Dims dims) {
  const s64 count = s64{dims.M} * dims.N, stride = s64{gridDim.x} * blockDim.x;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const s64 row = i / dims.N, column = i % dims.N;
    f64 sum = 0;
    for (s64 k = 0; k < dims.K; ++k)
      sum +=
          to_f64(A.data[row * A.stride[0] + k * A.stride[1]]) * to_f64(B.data[column * B.stride[0] + k * B.stride[1]]);
    D.data[row * D.stride[0] + column * D.stride[1]] = epilogue(sum, static_cast<s32>(row), static_cast<s32>(column));
  }
}
#endif

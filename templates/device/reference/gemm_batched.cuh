#pragma once
// The float64 reference of all gemm_batched files. T, TA, TB, Dims and Hooks are the template's.
#include "device/reference/gemm_patches.cuh"

#ifdef TMA_JIT_REFERENCE
// Returns one matrix of a batch; if the batch has only one, that.
template <class X>
__device__ inline View<X, 2> matrix_of(const View<X, 3>& batch, s64 count, s64 index, bool transposed) {
  X* const data = batch.data + (count == 1 ? 0 : index) * batch.stride[0];
  return {data, {batch.stride[transposed ? 2 : 1], batch.stride[transposed ? 1 : 2]}};
}

extern "C" __global__ void gemm_batched_reference(View<const T, 3> A, View<const T, 3> AT, View<const T, 3> B,
                                                  View<const T, 3> BT, View<f64, 3> D, const Dims dims,
                                                  const __grid_constant__ Hooks hooks) {
  for (s32 i = 0; i < dims.BATCH; ++i)
    multiply_patches(matrix_of(TA ? AT : A, dims.A_BATCH, i, TA), matrix_of(TB ? BT : B, dims.B_BATCH, i, TB),
                     matrix_of(D, dims.BATCH, i, false), dims,
                     [&](f64 x, s32 row, s32 column) { return hooks.epilogue(x, row, column, i); });
}
#endif

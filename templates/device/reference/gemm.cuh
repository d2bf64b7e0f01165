#pragma once
// The float64 reference of all gemm files. T, TA, TB, Dims and Hooks are the template's.
#include "device/reference/gemm_patches.cuh"

#ifdef TMA_JIT_REFERENCE
extern "C" __global__ void gemm_reference(View<const T, 2> A, View<const T, 2> AT, View<const T, 2> B,
                                          View<const T, 2> BT, View<f64, 2> D, const Dims dims,
                                          const __grid_constant__ Hooks hooks) {
  if (TA) A = {AT.data, {AT.stride[1], AT.stride[0]}};
  if (TB) B = {BT.data, {BT.stride[1], BT.stride[0]}};
  multiply_patches(A, B, D, dims, [&](f64 x, s32 row, s32 column) { return hooks.epilogue(x, row, column); });
}
#endif

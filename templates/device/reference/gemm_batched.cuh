#pragma once
// The float64 reference of all gemm_batched files. T, U, TA, TB, Dims and Hooks are the template's.
//
// What the files of the kernel gemm_batched share of their manifests, which `use` this:
//! type    T      = bf16  in {bf16, f16, e4m3, e5m2, s8, f32} "elements of A; f32 is multiplied as tf32, or of TERMS of them"
//! type    U      = T     in {bf16, f16, e4m3, e5m2, s8, f32} "elements of B: as those of A, or the other 8-bit float"
//! type    O      = bf16  in {bf16, f16, f32, e4m3, s8, s32}  "elements of D; e4m3 and s8 saturate"
//! type    S      = f32   in {f32, s32}             "what epilogue computes in: s32 where D is s32"
//! dim     M, N, K in 0..2147483647
//! dim     BATCH           in 0..524288               "products"
//! dim     A_BATCH, B_BATCH in 0..524288              "matrices of A and of B: as many as of D, or one for all"
//!
//! param   TA      = 0    in {0, 1}                 "1: A is given as AT, whose rows lie along M"
//! param   TB      = 0    in {0, 1}                 "1: B is given as BT, whose rows lie along N"
//! param   TERMS   = 1    in {1, 3}  asked          "f32: products of tf32 for each product; 3 of them keep the accuracy of f32"
//! param   INVARIANT = 0  in {0, 1}  asked          "1: a row of D has the same bits whatever the other rows of A, and their number"
//! param   DYNAMIC = 0    in {0, 1}  asked          "1: blocks take tiles as they get to them, beside kernels that have some of the SMs for a time; 0: each has its own tiles"
//!
//! require dtype(U) == dtype(T) || sizeof(T) == 1 && sizeof(U) == 1 && !integer(T) && !integer(U) "A and B have elements of one type, or 8-bit floats of both"
//! require TERMS == 1 || sizeof(T) == 4          "only f32 is multiplied in terms of tf32"
//! require A_BATCH == BATCH || A_BATCH == 1      "each product has its own matrix of A, or all share one"
//! require B_BATCH == BATCH || B_BATCH == 1      "each product has its own matrix of B, or all share one"
//! require TILES <= 2000000000                   "tiles are counted in 32 bits"
//! require integer(S) == (integer(O) && sizeof(O) == 4) "s32 results are computed in s32, all others in f32"
//! require integer(T) || !integer(S)              "only sums of s8 products are s32; a D of s8 is made of others by epilogue"
//!
//! tensor  A  : T[A_BATCH, M, K]  when TA == 0
//! tensor  AT : T[A_BATCH, K, M]  when TA == 1
//! tensor  B  : U[B_BATCH, N, K]  when TB == 0
//! tensor  BT : U[B_BATCH, K, N]  when TB == 1
//! tensor  D  : O[BATCH, M, N]  out
//! hook    epilogue(S x, s32 row, s32 column, s32 matrix) : S = x    "applied to each element of the product before it is rounded"
#include "device/reference/gemm_patches.cuh"

#ifdef TMA_JIT_REFERENCE
// Returns one matrix of a batch; if the batch has only one, that.
template <class X>
__device__ inline View<X, 2> matrix_of(const View<X, 3>& batch, s64 count, s64 index, bool transposed) {
  X* const data = batch.data + (count == 1 ? 0 : index) * batch.stride[0];
  return {data, {batch.stride[transposed ? 2 : 1], batch.stride[transposed ? 1 : 2]}};
}

extern "C" __global__ void gemm_batched_reference(View<const T, 3> A, View<const T, 3> AT, View<const U, 3> B,
                                                  View<const U, 3> BT, View<f64, 3> D, const Dims dims,
                                                  const __grid_constant__ Hooks hooks) {
  for (s32 i = 0; i < dims.BATCH; ++i)
    multiply_patches(matrix_of(TA ? AT : A, dims.A_BATCH, i, TA), matrix_of(TB ? BT : B, dims.B_BATCH, i, TB),
                     matrix_of(D, dims.BATCH, i, false), dims,
                     [&](f64 x, s32 row, s32 column) { return hooks.epilogue(x, row, column, i); });
}
#endif

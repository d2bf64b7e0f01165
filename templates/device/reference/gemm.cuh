#pragma once
// The float64 reference of all gemm files. T, U, TA, TB, Dims and Hooks are the template's.
//
// What the files of the kernel gemm share of their manifests, which `use` this:
//! type    T      = bf16  in {bf16, f16, e4m3, e5m2, s8, f32} "elements of A; f32 is multiplied as tf32, or of TERMS of them"
//! type    U      = T     in {bf16, f16, e4m3, e5m2, s8, f32} "elements of B: as those of A, or the other 8-bit float"
//! type    O      = bf16  in {bf16, f16, f32, e4m3, s8, s32}  "elements of D; e4m3 and s8 saturate"
//! type    S      = f32   in {f32, s32}             "what epilogue computes in: s32 where D is s32"
//! dim     M, N, K in 0..2147483647
//!
//! param   TA      = 0    in {0, 1}                 "1: A is given as AT, whose rows lie along M"
//! param   TB      = 0    in {0, 1}                 "1: B is given as BT, whose rows lie along N"
//! param   TERMS   = 1    in {1, 3}  asked          "f32: products of tf32 for each product; 3 of them keep the accuracy of f32"
//! param   INVARIANT = 0  in {0, 1}  asked          "1: a row of D has the same bits whatever the other rows of A, and their number"
//! param   DYNAMIC = 0    in {0, 1}  asked          "1: blocks take tiles as they get to them, beside kernels that have some of the SMs for a time; 0: each has its own tiles"
//! param   STREAM  = 0    in {0, 1}  asked chain 1  "1: planned for products that follow each other, as in a chain, so that L2 has nothing to write back; 0: for one after kernels that have written"
//! param   AMAX    = 0    in {0, 1}                 "1: LARGEST becomes the largest magnitude of D before it is rounded"
//!
//! require AMAX == 0 || M * N > 0                "one of the results is the largest: there must be some"
//! require dtype(U) == dtype(T) || sizeof(T) == 1 && sizeof(U) == 1 && !integer(T) && !integer(U) "A and B have elements of one type, or 8-bit floats of both"
//! require TERMS == 1 || sizeof(T) == 4          "only f32 is multiplied in terms of tf32"
//! require integer(S) == (integer(O) && sizeof(O) == 4) "s32 results are computed in s32, all others in f32"
//! require integer(T) || !integer(S)              "only sums of s8 products are s32; a D of s8 is made of others by epilogue"
//!
//! tensor  A  : T[M, K]  when TA == 0
//! tensor  AT : T[K, M]  when TA == 1
//! tensor  B  : U[N, K]  when TB == 0
//! tensor  BT : U[K, N]  when TB == 1
//! tensor  D  : O[M, N]  out
//! tensor  LARGEST : f32[1]  out  when AMAX == 1
//! hook    epilogue(S x, s32 row, s32 column) : S = x    "applied to each element of the product before it is rounded"
#include "device/reference/gemm_patches.cuh"

#ifdef TMA_JIT_REFERENCE
extern "C" __global__ void gemm_reference(View<const T, 2> A, View<const T, 2> AT, View<const U, 2> B,
                                          View<const U, 2> BT, View<f64, 2> D, View<f64, 1> LARGEST, const Dims dims,
                                          const __grid_constant__ Hooks hooks) {
  if (TA) A = {AT.data, {AT.stride[1], AT.stride[0]}};
  if (TB) B = {BT.data, {BT.stride[1], BT.stride[0]}};
  multiply_patches(A, B, D, dims, [&](f64 x, s32 row, s32 column) {
    const f64 result = hooks.epilogue(x, row, column);
    // Positive numbers are in the order of their bits as integers, and -1, the bits of a poisoned LARGEST, is below
    // all.
    if (AMAX) atomicMax(reinterpret_cast<s64*>(LARGEST.data), __double_as_longlong(fabs(result)));
    return result;
  });
}
#endif

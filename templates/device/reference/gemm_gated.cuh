#pragma once
// The float64 reference of all gemm_gated files. T, O, Dims and Hooks are the template's.
//
// What the files of the kernel gemm_gated share of their manifests, which `use` this:
//! type    T      = bf16  in {bf16, f16, e4m3, e5m2, s8}      "elements of A"
//! type    U      = T     in {bf16, f16, e4m3, e5m2, s8}      "elements of B and G: as those of A, or the other 8-bit float"
//! type    O      = bf16  in {bf16, f16, f32, e4m3, s8}       "elements of D; e4m3 and s8 saturate"
//! dim     M, N, K in 0..2147483647
//!
//! param   INVARIANT = 0 in {0, 1}  asked           "1: a row of D has the same bits whatever the other rows of A, and their number"
//! param   DYNAMIC = 0   in {0, 1}  asked           "1: blocks take tiles as they get to them, beside kernels that have some of the SMs for a time; 0: each has its own tiles"
//! param   AMAX   = 0    in {0, 1}                   "1: LARGEST becomes the largest magnitude of D before it is rounded"
//!
//! let     TERMS  = 1                                "products of each pair of elements"
//!
//! require AMAX == 0 || M * N > 0                    "one of the results is the largest: there must be some"
//! require dtype(U) == dtype(T) || sizeof(T) == 1 && sizeof(U) == 1 && !integer(T) && !integer(U) "A, B and G have elements of one type, or 8-bit floats: B and G of one, A of the other"
//!
//! tensor  A  : T[M, K]
//! tensor  G  : U[N, K]
//! tensor  B  : U[N, K]
//! tensor  D  : O[M, N]  out
//! tensor  LARGEST : f32[1]  out  when AMAX == 1
//! hook    gate(f32 x, f32 g, s32 row, s32 column) : f32 = silu(g) * x    "what is made of an element of A * B^T and that of A * G^T"
//! hook    epilogue(f32 x, s32 row, s32 column) : f32 = x    "applied to that before it is rounded"
#include "device/reference/gemm_patches.cuh"

#ifdef TMA_JIT_REFERENCE
extern "C" __global__ void gemm_gated_reference(View<const T, 2> A, View<const U, 2> G, View<const U, 2> B,
                                                View<f64, 2> D, View<f64, 1> LARGEST, const Dims dims,
                                                const __grid_constant__ Hooks hooks) {
  multiply_patches(A, B, D, dims, [&](f64 x, s32 row, s32 column) {
    const T* a = A.data + row * A.stride[0];
    const U* g = G.data + column * G.stride[0];
    f64 sum = 0;
    for (s64 k = 0; k < dims.K; ++k) sum += operand(a[k * A.stride[1]]) * operand(g[k * G.stride[1]]);
    const f64 result = hooks.epilogue(hooks.gate(x, sum, row, column), row, column);
    // As in gemm.cuh: bits of positive numbers are in their order, and those of a poisoned LARGEST are below all.
    if (AMAX) atomicMax(reinterpret_cast<s64*>(LARGEST.data), __double_as_longlong(fabs(result)));
    return result;
  });
}
#endif

#pragma once
// The float64 reference of all gemm_gated files. T, U, Dims and Hooks are the template's.
//
// What the files of the kernel gemm_gated share of their manifests, which `use` this after gated_patches.cuh:
//! param   AMAX   = 0    in {0, 1}                   "1: LARGEST becomes the largest magnitude of D before it is rounded"
//!
//! let     BATCH   = 1                               "products of each kind"
//! let     A_BATCH = 1                               "matrices of A"
//! let     B_BATCH = 1                               "matrices of B, and of G"
//!
//! require AMAX == 0 || M * N > 0                    "one of the results is the largest: there must be some"
//!
//! tensor  A  : T[M, K]
//! tensor  G  : U[N, K]
//! tensor  B  : U[N, K]
//! tensor  D  : O[M, N]  out
//! tensor  LARGEST : f32[1]  out  when AMAX == 1
//! hook    gate(f32 x, f32 g, s32 row, s32 column) : f32 = silu(g) * x    "what is made of an element of A * B^T and that of A * G^T"
//! hook    epilogue(f32 x, s32 row, s32 column) : f32 = x    "applied to that before it is rounded"
#include "device/reference/gated_patches.cuh"

#ifdef TMA_JIT_REFERENCE
extern "C" __global__ void gemm_gated_reference(View<const T, 2> A, View<const U, 2> G, View<const U, 2> B,
                                                View<f64, 2> D, View<f64, 1> LARGEST, const Dims dims,
                                                const __grid_constant__ Hooks hooks) {
  gate_patches(A, G, B, D, dims, [&](f64 x, f64 g, s32 row, s32 column) {
    const f64 result = hooks.epilogue(hooks.gate(x, g, row, column), row, column);
    // As in gemm.cuh: bits of positive numbers are in their order, and those of a poisoned LARGEST are below all.
    if (AMAX) atomicMax(reinterpret_cast<s64*>(LARGEST.data), __double_as_longlong(fabs(result)));
    return result;
  });
}
#endif

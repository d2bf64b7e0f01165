#pragma once
// The float64 reference of all gemm_gated_batched files. T, U, Dims and Hooks are the template's.
//
// What the files of the kernel gemm_gated_batched share of their manifests, which `use` this after gated_patches.cuh:
//! dim     BATCH           in 0..524288              "products of each kind"
//! dim     A_BATCH, B_BATCH in 0..524288             "matrices of A, and of both B and G: as many as of D, or one for all"
//!
//! require A_BATCH == BATCH || A_BATCH == 1          "each product has its own matrix of A, or all share one"
//! require B_BATCH == BATCH || B_BATCH == 1          "each product has its own matrices of B and G, or all share one of each"
//! require TILES <= 2000000000                       "tiles are counted in 32 bits"
//!
//! tensor  A  : T[A_BATCH, M, K]
//! tensor  G  : U[B_BATCH, N, K]
//! tensor  B  : U[B_BATCH, N, K]
//! tensor  D  : O[BATCH, M, N]  out
//! hook    gate(f32 x, f32 g, s32 row, s32 column, s32 matrix) : f32 = silu(g) * x    "what is made of an element of A[i] * B[i]^T and that of A[i] * G[i]^T"
//! hook    epilogue(f32 x, s32 row, s32 column, s32 matrix) : f32 = x    "applied to that before it is rounded"
#include "device/reference/gated_patches.cuh"
#include "device/tile/matrix_of.cuh"

#ifdef TMA_JIT_REFERENCE
extern "C" __global__ void gemm_gated_batched_reference(View<const T, 3> A, View<const U, 3> G, View<const U, 3> B,
                                                        View<f64, 3> D, const Dims dims,
                                                        const __grid_constant__ Hooks hooks) {
  for (s32 i = 0; i < dims.BATCH; ++i)
    gate_patches(matrix_of(A, dims.A_BATCH, i), matrix_of(G, dims.B_BATCH, i), matrix_of(B, dims.B_BATCH, i),
                 matrix_of(D, dims.BATCH, i), dims, [&](f64 x, f64 g, s32 row, s32 column) {
                   return hooks.epilogue(hooks.gate(x, g, row, column, i), row, column, i);
                 });
}
#endif

#pragma once
// The float64 products of gemm_gated and gemm_gated_batched. T, U, O, TERMS and Dims are the template's.
//
// What the files of both kernels share of their manifests, which `use` this:
//! type    T      = bf16  in {bf16, f16, e4m3, e5m2, s8}      "elements of A"
//! type    U      = T     in {bf16, f16, e4m3, e5m2, s8}      "elements of B and G: as those of A, or the other 8-bit float"
//! type    O      = bf16  in {bf16, f16, f32, e4m3, s8}       "elements of D; e4m3 and s8 saturate"
//! dim     M, N, K in 0..2147483647
//!
//! param   INVARIANT = 0 in {0, 1}  asked           "1: a row of D has the same bits whatever the other rows of A, and their number"
//! param   DYNAMIC = 0   in {0, 1}  asked           "1: blocks take tiles as they get to them, beside kernels that have some of the SMs for a time; 0: each has its own tiles"
//!
//! let     TERMS  = 1                                "products of each pair of elements"
//!
//! require dtype(U) == dtype(T) || sizeof(T) == 1 && sizeof(U) == 1 && !integer(T) && !integer(U) "A, B and G have elements of one type, or 8-bit floats: B and G of one, A of the other"
#include "device/reference/gemm_patches.cuh"

#ifdef TMA_JIT_REFERENCE
// D = gate(A * B^T, A * G^T, row, column), of which each thread of the grid computes some patches.
template <class F>
__device__ inline void gate_patches(const View<const T, 2>& A, const View<const U, 2>& G, const View<const U, 2>& B,
                                    const View<f64, 2>& D, const Dims& dims, F gate) {
  Patch gates;  // of the patch whose elements the lambda is called with, the first element first
  multiply_patches(A, B, D, dims, [&](f64 x, s32 row, s32 column) {
    const int i = row % Patch::kSide, j = column % Patch::kSide;
    if (i == 0 && j == 0) {
      Patch made = {row, column};  // in registers, unlike one that is indexed by numbers which are not known
      sum_patch(made, A, G, dims);
      gates = made;
    }
    return gate(x, gates.sum[i][j], row, column);
  });
}
#endif

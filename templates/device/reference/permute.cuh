#pragma once
// The float64 reference of the kernels that permute dimensions.
//
// What the files of the kernel permute share of their manifests, which `use` this:
//! type    T       = u8  in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     N0, N1        in 0..65536                "of S; 1 for dimensions it lacks"
//! dim     N2, N3, N4    in 0..2147483647           "the larger extents come last; strides may be in any order"
//!
//! param   P0      = 0   in 0..4                    "which dimension of S is the outermost of D; pinned, as are the others"
//!
//! let     E0      = P0 == 0 ? N0 : P0 == 1 ? N1 : P0 == 2 ? N2 : P0 == 3 ? N3 : N4  "extents of D"
//! let     E1      = P1 == 0 ? N0 : P1 == 1 ? N1 : P1 == 2 ? N2 : P1 == 3 ? N3 : N4
//! let     E2      = P2 == 0 ? N0 : P2 == 1 ? N1 : P2 == 2 ? N2 : P2 == 3 ? N3 : N4
//! let     E3      = P3 == 0 ? N0 : P3 == 1 ? N1 : P3 == 2 ? N2 : P3 == 3 ? N3 : N4
//! let     E4      = P4 == 0 ? N0 : P4 == 1 ? N1 : P4 == 2 ? N2 : P4 == 3 ? N3 : N4
//!
//! require (1 << P0 | 1 << P1 | 1 << P2 | 1 << P3 | 1 << P4) == 31 "D has every dimension of S once"
//!
//! tensor  S : T[N0, N1, N2, N3, N4]
//! tensor  D : T[E0, E1, E2, E3, E4]  out
//!
//! work    flops 0  bytes 2 * N0 * N1 * N2 * N3 * N4 * sizeof(T)
//! reference permute_reference  grid min(ceil_div(N0 * N1 * N2 * N3 * N4, 256), 65536)  block 256
#include "device/ptx/cvt.cuh"

// Dimension k of D is dimension order[k] of S, whose extents are `extent`.
template <class T>
__device__ inline void reference_permute(const View<const T, 5>& S, const View<f64, 5>& D, const int (&extent)[5],
                                         const int (&order)[5]) {
  s64 count = 1;
  for (const int n : extent) count *= n;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += s64{gridDim.x} * blockDim.x) {
    s64 rest = i, index[5], from = 0, to = 0;
    for (int d = 4; d >= 0; rest /= extent[d--]) index[d] = rest % extent[d];
    for (int d = 0; d < 5; ++d) from += index[d] * S.stride[d], to += index[order[d]] * D.stride[d];
    D.data[to] = to_f64(S.data[from]);
  }
}

//! kernel  permute  "D = S with its dimensions in another order, bit for bit: dimension k of D is dimension Pk of S; any strides, and several elements at once where the innermost stays"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/permute.cuh"
//!
//! param   P1      = 2   in 0..4
//! param   P2      = 1   in 0..4
//! param   P3      = 3   in 0..4
//! param   P4      = 4   in 0..4                    "and which the innermost"
//! param   VEC     = 16  in {16, 8, 4, 2, 1}        "bytes a thread moves at once: an element, or several of a row"
//! param   THREADS = 256 in {128, 256, 512}
//!
//! let     PACK    = VEC / sizeof(T)
//! let     PACKS   = N0 * N1 * N2 * N3 * (N4 / max(PACK, 1))
//!
//! require VEC >= sizeof(T) && N4 * sizeof(T) % VEC == 0 "a row is whole accesses"
//! require PACK <= 1 || P4 == 4                     "rows must stay whole"
//! require PACK <= 1 || stride(S, 4) == 1 && stride(D, 4) == 1 "a row's elements are neighbours"
//! require PACK <= 1 || alignment(S) >= VEC && (stride(S, 0) | stride(S, 1) | stride(S, 2) | stride(S, 3)) * sizeof(T) % VEC == 0 "rows of S begin at a multiple of the access"
//! require PACK <= 1 || alignment(D) >= VEC && (stride(D, 0) | stride(D, 1) | stride(D, 2) | stride(D, 3)) * sizeof(T) % VEC == 0 "rows of D begin at a multiple of the access"
//!
//! launch  grid min(ceil_div(PACKS, THREADS), 2147483647)  block THREADS
//!
//! preset  VEC = 16  when N2 <= 2        "few enough elements to be emulated quickly"
//! preset  VEC = 8   when N2 <= 2
//! preset  VEC = 4   when N2 <= 2
//! preset  VEC = 2   when N2 <= 2
//! preset  VEC = 1   when N2 <= 2
//! preset  VEC = 16
//! preset  VEC = 8
//! preset  VEC = 4
//! preset  VEC = 2
//! preset  VEC = 1

#include "device/reference/permute.cuh"
#include "device/tile/pack.cuh"

#ifndef TMA_JIT_REFERENCE

// Each thread moves one pack; neighbouring threads write neighbouring packs of D.
extern "C" __global__ __launch_bounds__(THREADS, 1) void permute(View<const T, 5> S, View<T, 5> D, const Dims dims) {
  constexpr int kOrder[5] = {P0, P1, P2, P3, P4};
  const int extent[5] = {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4 / PACK};
  u64 count = 1;
  for (const int n : extent) count *= n;
  for (u64 i = u64{blockIdx.x} * THREADS + threadIdx.x; i < count; i += u64{gridDim.x} * THREADS) {
    u64 rest = i;
    s64 from = 0, to = 0;
#pragma unroll
    for (int k = 4; k >= 0; --k) {
      const s64 index = static_cast<s64>(rest % extent[kOrder[k]]) * (k == 4 ? PACK : 1);
      rest /= extent[kOrder[k]];
      from += index * S.stride[kOrder[k]];
      to += index * D.stride[k];
    }
    using Access = Pack<T, PACK>;
    *reinterpret_cast<Access*>(D.data + to) = *reinterpret_cast<const Access*>(S.data + from);
  }
}

#else

extern "C" __global__ void permute_reference(View<const T, 5> S, View<f64, 5> D, const Dims dims) {
  reference_permute(S, D, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4}, {P0, P1, P2, P3, P4});
}

#endif

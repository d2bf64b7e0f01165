//! kernel  permute  "D = S with its dimensions in another order, bit for bit: dimension k of D is dimension Pk of S; any strides, and several elements at once where the innermost stays"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/permute.cuh"
//!
//! param   P1      = 2   in 0..4
//! param   P2      = 1   in 0..4
//! param   P3      = 3   in 0..4
//! param   P4      = 4   in 0..4                    "and which the innermost"
//! param   VEC     = 16  in {16, 8, 4, 2, 1}        "bytes a thread moves at once: an element, or several of a row"
//! param   UNITS   = 4   in {1, 2, 4, 8}            "accesses of a thread, all in flight"
//! param   THREADS = 128 in {128, 256, 512}
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
//! launch  grid min(ceil_div(PACKS, THREADS * UNITS), 2147483647)  block THREADS
//!
//! preset  VEC = 16  when N2 <= 2        "few enough elements to be emulated quickly"
//! preset  VEC = 8   when N2 <= 2
//! preset  VEC = 4   when N2 <= 2
//! preset  VEC = 2   when N2 <= 2
//! preset  VEC = 1   when N2 <= 2
//! preset  UNITS = 1  when PACKS <= device.sm_count * 512
//! preset  VEC = 16
//! preset  VEC = 8
//! preset  VEC = 4
//! preset  VEC = 2
//! preset  VEC = 1

#include "device/reference/permute.cuh"
#include "device/tile/pack.cuh"

#ifndef TMA_JIT_REFERENCE

// Accesses are of words: as elements of 16 bits each would take a register.
template <int Bytes> struct WordOf { using Type = u32; };
template <> struct WordOf<2> { using Type = u16; };
template <> struct WordOf<1> { using Type = u8; };
using Access = Pack<WordOf<VEC>::Type, VEC <= 4 ? 1 : VEC / 4>;

// Moves packs first, first + THREADS, ...: neighbouring threads write neighbouring packs of D. Index counts the packs.
template <class Index>
__device__ inline void move(const View<const T, 5>& S, const View<T, 5>& D, const Dims& dims, u64 first, u64 count) {
  constexpr int kOrder[5] = {P0, P1, P2, P3, P4};
  const Index extent[5] = {static_cast<Index>(dims.N0), static_cast<Index>(dims.N1), static_cast<Index>(dims.N2),
                           static_cast<Index>(dims.N3), static_cast<Index>(dims.N4 / PACK)};
  Access x[UNITS];
  s64 to[UNITS];
#pragma unroll
  for (int u = 0; u < UNITS; ++u) {
    if (first + u * THREADS >= count) break;
    Index rest = first + u * THREADS;
    s64 from = to[u] = 0;
#pragma unroll
    for (int k = 4; k >= 0; --k) {
      const Index n = extent[kOrder[k]];
      if (n == 1) continue;
      const Index above = rest / n;
      const s64 index = static_cast<s64>(rest - above * n) * (k == 4 ? PACK : 1);
      rest = above;
      from += index * S.stride[kOrder[k]];
      to[u] += index * D.stride[k];
    }
    x[u] = *reinterpret_cast<const Access*>(S.data + from);
  }
#pragma unroll
  for (int u = 0; u < UNITS; ++u)
    if (first + u * THREADS < count) *reinterpret_cast<Access*>(D.data + to[u]) = x[u];
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void permute(View<const T, 5> S, View<T, 5> D, const Dims dims) {
  const u64 count = u64{static_cast<u32>(dims.N0)} * dims.N1 * dims.N2 * dims.N3 * (dims.N4 / PACK);
  const u64 step = u64{gridDim.x} * THREADS * UNITS;
  for (u64 i = u64{blockIdx.x} * THREADS * UNITS + threadIdx.x; i < count; i += step) {
    if (count <= 0xffffffff)  // a division of 32 bits takes a fraction of one of 64
      move<u32>(S, D, dims, i, count);
    else
      move<u64>(S, D, dims, i, count);
  }
}

#else

extern "C" __global__ void permute_reference(View<const T, 5> S, View<f64, 5> D, const Dims dims) {
  reference_permute(S, D, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4}, {P0, P1, P2, P3, P4});
}

#endif

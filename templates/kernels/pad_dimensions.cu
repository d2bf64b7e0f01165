//! kernel  pad      "D[i,j,k,l,m] = S[i-before0,j-before1,k-before2,l-before3,m-before4], bit for bit, and value where S has no such element: what is below 0 crops"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     M0, M1, M2, M3, M4 in 0..2147483647      "of D; 1 for dimensions it lacks"
//! dim     N0, N1, N2, N3, N4 in 0..2147483647      "of S"
//!
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, moved one by one"
//! param   LANES   = 64   in {8, 16, 32, 64, 128, 256} "threads that share a row; a block of 256 has 256 / LANES rows"
//! param   UNITS   = 4    in {1, 2, 4, 8}           "16 bytes of a row that a thread has in flight"
//!
//! let     COUNT   = NEIGHBOURS == 0 ? 1 : 16 / sizeof(T) "elements that are written at once"
//! let     ROWS    = 256 / LANES
//! let     SPAN    = M4 + (alignment(D) % 16 == 0 && (stride(D, 0) | stride(D, 1) | stride(D, 2) | stride(D, 3)) % COUNT == 0 ? 0 : COUNT - 1)
//! let     ACROSS  = ceil_div(SPAN, COUNT * LANES * UNITS) "parts of a row"
//! let     HEIGHT  = M0 * M1 * M2 * M3              "rows of D"
//!
//! require NEIGHBOURS == 0 || ((N4 <= 1 || stride(S, 4) == 1) && (M4 <= 1 || stride(D, 4) == 1)) "elements that move together must be neighbours"
//!
//! tensor  S : T[N0, N1, N2, N3, N4]
//! tensor  D : T[M0, M1, M2, M3, M4]  out
//! scalar  value : f64 = 0
//! scalar  before0 : s64 = 0
//! scalar  before1 : s64 = 0
//! scalar  before2 : s64 = 0
//! scalar  before3 : s64 = 0
//! scalar  before4 : s64 = 0
//!
//! launch  grid ceil_div(HEIGHT, ROWS) * ACROSS  block 256
//! work    flops 0  bytes (min(M0, N0) * min(M1, N1) * min(M2, N2) * min(M3, N3) * min(M4, N4) + HEIGHT * M4) * sizeof(T)
//! reference pad_reference  grid min(ceil_div(HEIGHT * M4, 256), 65536)  block 256
//!
//! preset  NEIGHBOURS = 1, LANES = 8, UNITS = 1   when SPAN * sizeof(T) <= 128
//! preset  NEIGHBOURS = 1, LANES = 8, UNITS = 2   when SPAN * sizeof(T) <= 256
//! preset  NEIGHBOURS = 1, LANES = 8, UNITS = 4   when SPAN * sizeof(T) <= 512
//! preset  NEIGHBOURS = 1, LANES = 16, UNITS = 4  when SPAN * sizeof(T) <= 1024
//! preset  NEIGHBOURS = 1, LANES = 32, UNITS = 4  when SPAN * sizeof(T) <= 2048
//! preset  NEIGHBOURS = 1, LANES = 64, UNITS = 4
//! preset  NEIGHBOURS = 0, LANES = 8, UNITS = 2   when M4 <= 16
//! preset  NEIGHBOURS = 0, LANES = 32

#include "device/tile/element_of.cuh"

// Where an element or a row lies, and whether S has it.
struct Place {
  s64 from, to;
  bool has;
};

// Of index `rest` in the first Dims dimensions of D, taken as one.
template <int Dims, class VS, class VD>
__device__ inline Place place(const VS& S, const VD& D, s64 rest, const int (&n)[5], const int (&m)[5],
                              const s64 (&before)[5]) {
  Place place = {0, 0, true};
#pragma unroll
  for (int d = Dims - 1; d >= 0; --d) {
    if (m[d] == 1 && n[d] == 1 && before[d] == 0) continue;
    // A division of 32 bits takes a fraction of one of 64.
    const s64 above = rest <= 0xffffffff ? static_cast<u32>(rest) / static_cast<u32>(m[d]) : rest / m[d];
    const s64 index = rest - above * m[d], source = index - before[d];
    rest = above;
    place.has = place.has && source >= 0 && source < n[d];
    place.from += source * S.stride[d], place.to += index * D.stride[d];
  }
  return place;
}

#ifndef TMA_JIT_REFERENCE

#include "device/tile/padded_row.cuh"

extern "C" __global__ __launch_bounds__(256) void pad(View<const T, 5> S, View<T, 5> D, f64 value, s64 before0,
                                                      s64 before1, s64 before2, s64 before3, s64 before4,
                                                      const Dims dims) {
  const s64 rows = s64{dims.M0} * dims.M1 * dims.M2 * dims.M3;
  const u32 bands = ceil_div<s64>(rows, ROWS);  // the blocks of a part of all rows
  const s64 row = s64{blockIdx.x % bands} * ROWS + threadIdx.x / LANES;
  if (row >= rows) return;
  const Place at =
      place<4>(S, D, row, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4}, {dims.M0, dims.M1, dims.M2, dims.M3, dims.M4},
               {before0, before1, before2, before3, before4});
  const PaddedRow<T> padded = {D.data + at.to, D.stride[4],          dims.M4, at.has ? S.data + at.from : S.data,
                               S.stride[4],    at.has ? dims.N4 : 0, before4};
  const s64 first = s64{blockIdx.x / bands} * (LANES * UNITS) + threadIdx.x % LANES;
  padded.store<COUNT, UNITS, LANES>(first, element_of<T>(value));
}

#else

extern "C" __global__ void pad_reference(View<const T, 5> S, View<f64, 5> D, f64 value, s64 before0, s64 before1,
                                         s64 before2, s64 before3, s64 before4, const Dims dims) {
  const s64 count = s64{dims.M0} * dims.M1 * dims.M2 * dims.M3 * dims.M4;
  for (s64 index = s64{blockIdx.x} * blockDim.x + threadIdx.x; index < count; index += s64{gridDim.x} * blockDim.x) {
    const Place at =
        place<5>(S, D, index, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4},
                 {dims.M0, dims.M1, dims.M2, dims.M3, dims.M4}, {before0, before1, before2, before3, before4});
    D.data[at.to] = at.has ? to_f64(S.data[at.from]) : to_f64(element_of<T>(value));
  }
}

#endif

//! kernel  pad      "D[b,i,j] = S[b,i-top,j-left], bit for bit, and value where S has no such element: top and left below 0 crop"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     B              in 0..2147483647
//! dim     M, N           in 0..2147483647          "rows and columns of D"
//! dim     R, C           in 0..2147483647          "rows and columns of S"
//!
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, moved one by one"
//! param   LANES   = 256  in {8, 16, 32, 64, 128, 256} "threads that share a row; a block of 256 has 256 / LANES rows"
//! param   UNITS   = 4    in {1, 2, 4, 8}           "16 bytes of a row that a thread has in flight"
//!
//! let     COUNT   = NEIGHBOURS == 0 ? 1 : 16 / sizeof(T) "elements that are written at once"
//! let     ROWS    = 256 / LANES
//! let     SPAN    = N + (alignment(D) % 16 == 0 && (stride(D, 0) | stride(D, 1)) % COUNT == 0 ? 0 : COUNT - 1)
//! let     ACROSS  = ceil_div(SPAN, COUNT * LANES * UNITS) "parts of a row"
//!
//! require NEIGHBOURS == 0 || ((C <= 1 || stride(S, 2) == 1) && (N <= 1 || stride(D, 2) == 1)) "elements that move together must be neighbours"
//!
//! tensor  S : T[B, R, C]
//! tensor  D : T[B, M, N]  out
//! scalar  value : f64 = 0
//! scalar  top : s64 = 0
//! scalar  left : s64 = 0
//!
//! launch  grid ceil_div(B * M, ROWS) * ACROSS  block 256
//! work    flops 0  bytes B * (min(M, R) * min(N, C) + M * N) * sizeof(T)
//! reference pad_reference  grid min(ceil_div(B * M * N, 256), 65536)  block 256
//!
//! preset  NEIGHBOURS = 1, LANES = 8, UNITS = 1   when SPAN * sizeof(T) <= 128 || B * M * SPAN * sizeof(T) <= 1048576
//! preset  NEIGHBOURS = 1, LANES = 8, UNITS = 2   when SPAN * sizeof(T) <= 256
//! preset  NEIGHBOURS = 1, LANES = 8, UNITS = 4   when SPAN * sizeof(T) <= 512
//! preset  NEIGHBOURS = 1, LANES = 16, UNITS = 4  when SPAN * sizeof(T) <= 1024
//! preset  NEIGHBOURS = 1, LANES = 32, UNITS = 4  when SPAN * sizeof(T) <= 2048
//! preset  NEIGHBOURS = 1, LANES = 64, UNITS = 4
//! preset  NEIGHBOURS = 0, LANES = 8, UNITS = 2   when N <= 16
//! preset  NEIGHBOURS = 0, LANES = 32

#include "device/tile/element_of.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/tile/padded_row.cuh"

extern "C" __global__ __launch_bounds__(256) void pad(View<const T, 3> S, View<T, 3> D, f64 value, s64 top, s64 left,
                                                      const Dims dims) {
  const s64 rows = s64{dims.B} * dims.M;
  const u32 bands = ceil_div<s64>(rows, ROWS);  // the blocks of a part of all rows
  const s64 row = s64{blockIdx.x % bands} * ROWS + threadIdx.x / LANES;
  if (row >= rows) return;
  // A division of 32 bits takes a fraction of one of 64.
  const s64 b = row <= 0xffffffff ? static_cast<u32>(row) / static_cast<u32>(dims.M) : row / dims.M;
  const s64 i = row - b * dims.M, r = i - top;
  const bool has = r >= 0 && r < dims.R;
  const T* const from = has ? S.data + b * S.stride[0] + r * S.stride[1] : S.data;
  const PaddedRow<T> padded = {
      D.data + b * D.stride[0] + i * D.stride[1], D.stride[2], dims.N, from, S.stride[2], has ? dims.C : 0, left};
  const s64 first = s64{blockIdx.x / bands} * (LANES * UNITS) + threadIdx.x % LANES;
  padded.store<COUNT, UNITS, LANES>(first, element_of<T>(value));
}

#else

extern "C" __global__ void pad_reference(View<const T, 3> S, View<f64, 3> D, f64 value, s64 top, s64 left,
                                         const Dims dims) {
  const s64 count = s64{dims.B} * dims.M * dims.N;
  for (s64 index = s64{blockIdx.x} * blockDim.x + threadIdx.x; index < count; index += s64{gridDim.x} * blockDim.x) {
    const s64 j = index % dims.N, i = index / dims.N % dims.M, b = index / dims.N / dims.M;
    const s64 r = i - top, c = j - left;
    const bool has = r >= 0 && r < dims.R && c >= 0 && c < dims.C;
    D.data[b * D.stride[0] + i * D.stride[1] + j * D.stride[2]] =
        has ? to_f64(S.data[b * S.stride[0] + r * S.stride[1] + c * S.stride[2]]) : to_f64(element_of<T>(value));
  }
}

#endif

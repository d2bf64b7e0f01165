//! kernel  pad      "D[b,i,j] = S[b,i-top,j-left], bit for bit, and value where S has no such element: top and left below 0 crop"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     B              in 0..2147483647
//! dim     M, N           in 0..2147483647          "rows and columns of D"
//! dim     R, C           in 0..2147483647          "rows and columns of S"
//!
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, moved one by one"
//! param   LANES   = 256  in {8, 32, 256}           "threads that share a row; a block of 256 has 256 / LANES rows"
//!
//! let     COUNT   = NEIGHBOURS == 0 ? 1 : 16 / sizeof(T) "elements that are written at once"
//! let     ROWS    = 256 / LANES
//! let     ACROSS  = ceil_div(N, COUNT * LANES)
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
//! preset  NEIGHBOURS = 1, LANES = 8    when N * sizeof(T) <= 256
//! preset  NEIGHBOURS = 1, LANES = 32   when N * sizeof(T) <= 2048
//! preset  NEIGHBOURS = 1, LANES = 256
//! preset  NEIGHBOURS = 0, LANES = 8    when N <= 16
//! preset  NEIGHBOURS = 0, LANES = 32

#include "device/tile/element_of.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/tile/pack.cuh"
#include "device/tile/unaligned.cuh"

// A row of D: what S has of its columns `begin` to before `end`, of which column 0 would be at `from`.
struct PaddedRow {
  T* to;
  const T* from;
  s64 begin, end;
};

__device__ inline PaddedRow row_of(const View<const T, 3>& S, const View<T, 3>& D, s64 row, s64 top, s64 left,
                                   const Dims& dims) {
  // A division of 32 bits takes a fraction of one of 64.
  const s64 b = row <= 0xffffffff ? static_cast<u32>(row) / static_cast<u32>(dims.M) : row / dims.M;
  const s64 i = row - b * dims.M, r = i - top;
  T* const to = D.data + b * D.stride[0] + i * D.stride[1];
  if (r < 0 || r >= dims.R) return {to, S.data, 0, 0};
  const s64 begin = min(max(left, s64{0}), s64{dims.N}), end = min(max(left + dims.C, begin), s64{dims.N});
  return {to, S.data + b * S.stride[0] + r * S.stride[1] - left * S.stride[2], begin, end};
}

extern "C" __global__ __launch_bounds__(256) void pad(View<const T, 3> S, View<T, 3> D, f64 value, s64 top, s64 left,
                                                      const Dims dims) {
  using Access = Pack<T, COUNT>;
  const u32 across = ceil_div<u32>(dims.N, COUNT * LANES);
  const s64 index = s64{blockIdx.x / across} * ROWS + threadIdx.x / LANES;
  if (index >= s64{dims.B} * dims.M) return;
  const PaddedRow row = row_of(S, D, index, top, left, dims);
  const T padding = element_of<T>(value);
  Access outside;
#pragma unroll
  for (T& x : outside.x) x = padding;
  const int before = NEIGHBOURS == 0 ? 0 : reinterpret_cast<u64>(row.to) % 16 / sizeof(T);
  const s64 first = s64{blockIdx.x % across} * LANES + threadIdx.x % LANES;
  for (s64 j = first * COUNT - before; j < dims.N; j += s64{across} * (LANES * COUNT)) {
    const bool whole = NEIGHBOURS == 1 && j >= 0 && j + COUNT <= dims.N;
    const u8* const in = reinterpret_cast<const u8*>(row.from + row.begin);
    if (whole && (j >= row.end || j + COUNT <= row.begin)) {
      *reinterpret_cast<Access*>(row.to + j) = outside;
    } else if (whole && j >= row.begin && j + COUNT <= row.end &&
               unaligned::inside(in, (j - row.begin) * sizeof(T), (row.end - row.begin) * sizeof(T))) {
      *reinterpret_cast<uint4*>(row.to + j) = unaligned::load(in + (j - row.begin) * sizeof(T));
    } else {
      for (s64 i = max(j, s64{0}); i < min(j + COUNT, s64{dims.N}); ++i)
        row.to[i * D.stride[2]] = i >= row.begin && i < row.end ? row.from[i * S.stride[2]] : padding;
    }
  }
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

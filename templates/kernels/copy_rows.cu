//! kernel  copy     "D[i,j] = S[i,j], bit for bit, rows at any pitch and address"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = u8    in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     M, N           in 0..2147483647
//!
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, moved one by one"
//! param   LANES   = 256  in {8, 32, 256}           "threads that share a row; a block of 256 has 256 / LANES rows"
//!
//! let     THREADS = 256
//! let     ROWS    = THREADS / LANES
//! let     WHOLE   = alignment(D) >= 16 && stride(D, 0) * sizeof(T) % 16 == 0 "rows of D begin at 16 bytes"
//! let     UNITS   = NEIGHBOURS == 0 ? N : WHOLE ? ceil_div(N * sizeof(T), 16) : ceil_div(N * sizeof(T) + 15, 16)
//! let     DOWN    = ceil_div(M, ROWS)
//! let     ACROSS  = N == 0 ? 0 : ceil_div(UNITS, LANES)
//!
//! require NEIGHBOURS == 0 || (stride(S, 1) == 1 && stride(D, 1) == 1) "elements that move together must be neighbours"
//!
//! tensor  S : T[M, N]
//! tensor  D : T[M, N]  out
//!
//! launch  grid DOWN * ACROSS  block THREADS
//! work    flops 0  bytes 2 * M * N * sizeof(T)
//! reference copy_reference  grid min(ceil_div(M * N, 256), 65536)  block 256
//!
//! preset  NEIGHBOURS = 1, LANES = 8    when N * sizeof(T) <= 256
//! preset  NEIGHBOURS = 1, LANES = 32   when N * sizeof(T) <= 2048
//! preset  NEIGHBOURS = 1, LANES = 256
//! preset  NEIGHBOURS = 0, LANES = 8    when N <= 16
//! preset  NEIGHBOURS = 0, LANES = 32

#include "device/reference/copy.cuh"
#include "device/tile/copy_row.cuh"

#ifndef TMA_JIT_REFERENCE

// The blocks of a band of rows process interleaved units. A unit is one of copy_row's, or one element.
struct Walk {
  s64 row;
  int first, step;
};

__device__ inline Walk walk(const Dims& dims) {
  const int across = gridDim.x / ceil_div<u32>(dims.M, ROWS);
  return {s64{blockIdx.x / across} * ROWS + threadIdx.x / LANES,
          static_cast<int>(blockIdx.x % across * LANES + threadIdx.x % LANES), across * LANES};
}

extern "C" __global__ __launch_bounds__(THREADS) void copy(View<const T, 2> S, View<T, 2> D, const Dims dims) {
  const Walk w = walk(dims);
  if (w.row >= dims.M) return;
  const T* from = S.data + w.row * S.stride[0];
  T* to = D.data + w.row * D.stride[0];
  if constexpr (NEIGHBOURS == 1)
    copy_row(to, from, dims.N, w.first, w.step);
  else
    for (s64 i = w.first; i < dims.N; i += w.step) to[i * D.stride[1]] = from[i * S.stride[1]];
}

#else

extern "C" __global__ void copy_reference(View<const T, 2> S, View<f64, 2> D, const Dims dims) {
  reference_copy(S, D, dims.M, dims.N);
}

#endif

//! kernel  gather   "D[i] = S[I[i]], rows by their numbers, at any pitch and address; a number that is no row's gives zeros"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gather.cuh"
//!
//! type    J      = s32   in {s32, s64}             "elements of I"
//! dim     R, N, COUNT    in 0..2147483647          "rows of S, columns, rows of D"
//!
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, moved one by one"
//! param   WHOLE   = 1    in {1, 0}                 "1: rows begin at 16 bytes and are multiples of them"
//! param   THREADS = 256  in {128, 256}             "of a block"
//! param   LANES   = 256  in {8, 32, 128, 256}      "threads that share a row; a block has THREADS / LANES rows"
//!
//! let     ROWS    = THREADS / LANES
//! let     ALIGNED = alignment(D) >= 16 && (COUNT <= 1 || stride(D, 0) * sizeof(T) % 16 == 0) "rows of D begin at 16 bytes"
//! let     UNITS   = NEIGHBOURS == 0 ? N : ALIGNED ? ceil_div(N * sizeof(T), 16) : ceil_div(N * sizeof(T) + 15, 16)
//! let     ACROSS  = N == 0 ? 0 : ceil_div(UNITS, LANES)
//!
//! require NEIGHBOURS == 0 || N <= 1 || (stride(S, 1) == 1 && stride(D, 1) == 1) "elements that move together must be neighbours"
//! require WHOLE == 0 || NEIGHBOURS == 1           "elements that move together must be neighbours"
//! require WHOLE == 0 || (stride(S, 1) == 1 && stride(D, 1) == 1 && ALIGNED && alignment(S) >= 16 && (R <= 1 || stride(S, 0) * sizeof(T) % 16 == 0) && N * sizeof(T) % 16 == 0) "rows must begin at 16 bytes and be multiples of them"
//! require LANES <= THREADS                         "a row is at most a block's"
//!
//! tensor  S : T[R, N]
//! tensor  I : J[COUNT]  in 0..R - 1  checked
//! tensor  D : T[COUNT, N]  out
//!
//! launch  grid ceil_div(COUNT, ROWS) * ACROSS  block THREADS
//! work    flops 0  bytes 2 * COUNT * N * sizeof(T) + COUNT * sizeof(J)
//!
//! preset  NEIGHBOURS = 1, LANES = 8    when N * sizeof(T) <= 256
//! preset  NEIGHBOURS = 1, LANES = 128  when WHOLE == 1 && N * sizeof(T) <= 2048
//! preset  NEIGHBOURS = 1, LANES = 32   when N * sizeof(T) <= 2048
//! preset  NEIGHBOURS = 1, LANES = 256
//! preset  NEIGHBOURS = 0, WHOLE = 0, LANES = 8  when N <= 16
//! preset  NEIGHBOURS = 0, WHOLE = 0, LANES = 32

#include "device/reference/gather.cuh"
#include "device/tile/copy_row.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS) void gather(View<const T, 2> S, View<const J, 1> I, View<T, 2> D,
                                                             const Dims dims) {
  constexpr u32 kUnit = 16 / sizeof(T);
  const u32 across = WHOLE ? ceil_div<u32>(dims.N, LANES * kUnit) : gridDim.x / ceil_div<u32>(dims.COUNT, ROWS);
  const u32 down = across == 1 ? blockIdx.x : blockIdx.x / across;
  const s64 i = s64{down} * ROWS + threadIdx.x / LANES;
  if (i >= dims.COUNT) return;
  const int first = (blockIdx.x - down * across) * LANES + threadIdx.x % LANES, step = across * LANES;
  const s64 row = I.data[i * I.stride[0]];
  const T* const from = row >= 0 && row < dims.R ? S.data + row * S.stride[0] : nullptr;
  T* const to = D.data + i * D.stride[0];
  if constexpr (WHOLE == 1) {
    if (first * kUnit < dims.N)
      reinterpret_cast<uint4*>(to)[first] = from == nullptr ? uint4{} : reinterpret_cast<const uint4*>(from)[first];
  } else if constexpr (NEIGHBOURS == 1)
    copy_row<true>(to, from, dims.N, first, step);
  else
    for (s64 n = first; n < dims.N; n += step) to[n * D.stride[1]] = from == nullptr ? T{} : from[n * S.stride[1]];
}

#else

extern "C" __global__ void gather_reference(View<const T, 2> S, View<const J, 1> I, View<f64, 2> D, const Dims dims) {
  reference_gather(S, I, D, dims.R, dims.N, dims.COUNT);
}

#endif

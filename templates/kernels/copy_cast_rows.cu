//! kernel  copy     "D[i,j] = S[i,j] as an element of another type, rows at any pitch and address"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  -1
//!
//! type    T       = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2} "elements of S"
//! type    O       = bf16  in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2} "elements of D: integers of the same or another size keep their low bits, floating-point numbers are rounded, towards 0 if to integers"
//! dim     M, N            in 0..2147483647
//!
//! param   COUNT   = 8     in {8, 4, 2, 1}          "elements of a row that a thread moves; at once where their addresses allow it"
//! param   LANES   = 32    in {8, 32, 128}          "threads that share a row; a block of 256 has 256 / LANES rows"
//! param   UNROLL  = 2     in {1, 2, 4}             "reads of a thread in flight"
//!
//! let     THREADS = 256
//! let     ROWS    = THREADS / LANES
//! let     ACROSS  = ceil_div(N, COUNT * LANES * UNROLL) "blocks that share a row"
//!
//! tensor  S : T[M, N]
//! tensor  D : O[M, N]  out
//!
//! launch  grid ceil_div(M, ROWS) * ACROSS  block THREADS
//! work    flops 0  bytes M * N * (sizeof(T) + sizeof(O))
//! reference copy_reference  grid min(ceil_div(M * N, 256), 65536)  block 256
//!
//! preset  COUNT = 8, LANES = 8, UNROLL = 1    when N <= 64
//! preset  COUNT = 8, LANES = 32, UNROLL = 1   when N <= 256
//! preset  COUNT = 8, LANES = 32, UNROLL = 2   when N <= 1024
//! preset  COUNT = 8, LANES = 128, UNROLL = 2

#include "device/tile/element_of.cuh"
#include "device/tile/place.cuh"

#ifndef TMA_JIT_REFERENCE

// Rows as those of a tensor of five dimensions.
template <class E> __device__ inline View<E, 5> of_five(const View<E, 2>& rows) {
  return {rows.data, {0, 0, 0, rows.stride[0], rows.stride[1]}};
}

extern "C" __global__ __launch_bounds__(THREADS) void copy(View<const T, 2> S, View<O, 2> D, const Dims dims) {
  const int across = gridDim.x / ceil_div<u32>(dims.M, ROWS);
  const s64 row = s64{blockIdx.x / across} * ROWS + threadIdx.x / LANES;
  const s64 first = (s64{blockIdx.x % across} * LANES * UNROLL + threadIdx.x % LANES) * COUNT;
  if (row >= dims.M) return;
  const auto place = [&](int u) -> Place {
    return {{0, 0, 0, static_cast<int>(row), static_cast<int>(first + u * (LANES * COUNT))}};
  };
  Pack<T, COUNT> x[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; ++u)
    if (const s64 left = dims.N - first - u * (LANES * COUNT); left > 0)
      x[u] = place(u).load<COUNT>(of_five(S), static_cast<int>(left));
#pragma unroll
  for (int u = 0; u < UNROLL; ++u)
    if (const s64 left = dims.N - first - u * (LANES * COUNT); left > 0)
      place(u).store<COUNT>(of_five(D), cast<O>(x[u]), static_cast<int>(left));
}

#else

extern "C" __global__ void copy_reference(View<const T, 2> S, View<f64, 2> D, const Dims dims) {
  const s64 count = s64{dims.M} * dims.N;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += s64{gridDim.x} * blockDim.x) {
    const s64 row = i / dims.N, column = i % dims.N;
    D.data[row * D.stride[0] + column * D.stride[1]] = exact_cast<O>(S.data[row * S.stride[0] + column * S.stride[1]]);
  }
}

#endif

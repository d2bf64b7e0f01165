//! kernel  fill     "Y[i,j] = value(x, i, j): a number, or an expression of the indices; rows at any pitch and address"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2} "an integer is rounded towards 0"
//! type    F      = f64   in {f64, f32, s64}        "x, and what value computes in: s64 for integers beyond 2^53"
//! dim     M              in 0..2147483647
//! dim     N : s64        in 0..576460752303423488
//!
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, written one by one"
//! param   FLAT    = 0    in {0, 1}                 "1: rows follow one another without space and are written as one"
//! param   WHOLE   = 1    in {1, 0}                 "1: what is written at once begins at 16 bytes, and rows are multiples of them"
//! param   NARROW  = 1    in {1, 0}                 "1: elements are counted in 31 bits"
//! param   THREADS = 256  in {128, 256, 512}        "of a block"
//! param   LANES   = 256  in {8, 32, 128, 256, 512} "threads that share a row"
//! param   UNROLL  = 1    in {1, 2, 4, 8}           "writes of a thread"
//!
//! let     COUNT   = NEIGHBOURS == 0 ? 1 : 16 / sizeof(T) "elements that are written at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     WIDTH   = FLAT == 1 ? M * N : N          "elements of a row as it is written"
//! let     ALIGNED = alignment(Y) >= 16 && (FLAT == 1 || M <= 1 || stride(Y, 0) * sizeof(T) % 16 == 0) "rows begin at 16 bytes"
//! let     UNITS   = ceil_div(WIDTH + (NEIGHBOURS == 0 || ALIGNED ? 0 : COUNT - 1), COUNT) "writes of a row, which begin at multiples of 16 bytes"
//! let     ACROSS  = N == 0 ? 0 : ceil_div(UNITS, LANES * UNROLL)
//! let     DOWN    = FLAT == 1 ? min(M, 1) : ceil_div(M, ROWS)
//! let     PLANES  = max(ceil_div(DOWN, 65535), 1)  "of a grid, which is that high at most"
//!
//! require NARROW == 0 || (ACROSS * LANES * UNROLL * COUNT <= 2147483647 && max(M, 1) * max(N, 1) <= 2147483647 && M * max(stride(Y, 0), -stride(Y, 0), 1) + N * max(stride(Y, 1), -stride(Y, 1)) <= 2147483647 && PLANES == 1) "the last element must be counted in 31 bits"
//! require LANES <= THREADS                         "a row is at most a block's"
//! require FLAT == 0 || (NEIGHBOURS == 1 && (M <= 1 || stride(Y, 0) == N)) "there must be no space between rows"
//! require FLAT == 0 || N <= 2147483647              "the elements of a row among those that are written as one are counted in 31 bits"
//! require FLAT == 0 || LANES == THREADS            "all threads of a block share what is written as one row"
//! require NEIGHBOURS == 0 || stride(Y, 1) == 1     "elements that are written together must be neighbours"
//! require WHOLE == 0 || (NEIGHBOURS == 1 && ALIGNED && WIDTH % COUNT == 0) "rows must begin at 16 bytes and be multiples of them"
//!
//! tensor  Y : T[M, N]  out
//! scalar  x : F = 0
//!
//! hook    value(F x, s64 row, s64 column) : F = x  "of an element; x is the scalar"
//!
//! launch  grid ACROSS, ceil_div(DOWN, PLANES), PLANES  block THREADS
//! work    flops 0  bytes M * N * sizeof(T)
//! reference fill_reference  grid min(ceil_div(M * N, 256), 65536)  block 256
//!
//! preset  FLAT = 1, WHOLE = 1, LANES = 256  when N * sizeof(T) <= 1024 || (given(value) == 0 && (M * N * sizeof(T) <= 1048576 || N % COUNT != 0))
//! preset  FLAT = 1, WHOLE = 0, LANES = 256  when N * sizeof(T) <= 1024 || (given(value) == 0 && (M * N * sizeof(T) <= 1048576 || N % COUNT != 0))
//! preset  WHOLE = 1, LANES = 8              when N * sizeof(T) <= 256
//! preset  WHOLE = 1, LANES = 32             when N * sizeof(T) <= 2048
//! preset  WHOLE = 1, LANES = 256
//! preset  WHOLE = 0, LANES = 8              when N * sizeof(T) <= 256
//! preset  WHOLE = 0, LANES = 32             when N * sizeof(T) <= 2048
//! preset  WHOLE = 0, LANES = 256
//! preset  NEIGHBOURS = 0, WHOLE = 0, LANES = 8  when N <= 16
//! preset  NEIGHBOURS = 0, WHOLE = 0, LANES = 32

#include "device/tile/element_of.cuh"
#include "device/tile/pack.cuh"

#ifndef TMA_JIT_REFERENCE

template <bool Narrow> struct Counted { using Index = s64; };
template <> struct Counted<true> { using Index = int; };
using Index = Counted<NARROW != 0>::Index;

// The values of COUNT elements of a row from `column` on.
__device__ inline Pack<T, COUNT> values(F x, s64 row, s64 column, s64 columns, const Hooks& hooks) {
  if constexpr (FLAT == 1) {
    const bool narrow = column + COUNT < 0x80000000;  // a division of 32 bits takes a fraction of one of 64
    row = narrow ? static_cast<u32>(column) / static_cast<u32>(columns) : column / columns;
    column -= row * columns;
  }
  Pack<T, COUNT> y;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    y.x[i] = element_of<T>(hooks.value(x, row, column));
    if (++column == columns && FLAT == 1) column = 0, ++row;
  }
  return y;
}

extern "C" __global__ __launch_bounds__(THREADS) void fill(View<T, 2> Y, F x, const Dims dims,
                                                           const __grid_constant__ Hooks hooks) {
  const Index width = static_cast<Index>(dims.N) * (FLAT == 1 ? dims.M : 1), plane = NARROW ? 0 : blockIdx.z;
  const Index row = FLAT == 1 ? 0 : (plane * gridDim.y + blockIdx.y) * ROWS + threadIdx.x / LANES;
  if ((ROWS > 1 || NARROW == 0) && FLAT == 0 && row >= dims.M) return;
  T* const to = Y.data + row * static_cast<Index>(Y.stride[0]);
  const int before = NEIGHBOURS == 0 || WHOLE == 1 ? 0 : reinterpret_cast<u64>(to) % 16 / sizeof(T);
  const Index first = static_cast<Index>(blockIdx.x) * (LANES * UNROLL) + threadIdx.x % LANES;
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index column = (first + u * LANES) * COUNT - before;
    if (WHOLE == 1 ? column < width : column >= 0 && column + COUNT <= width) {
      const Pack<T, COUNT> y = values(x, row, column, dims.N, hooks);
      store_whole_pack(to + (NEIGHBOURS == 1 ? column : column * static_cast<Index>(Y.stride[1])), y);
    } else if constexpr (WHOLE == 0) {
      for (Index j = max(column, Index{0}); j < min(column + COUNT, width); ++j)
        to[j] = element_of<T>(FLAT == 1 ? hooks.value(x, j / dims.N, j % dims.N) : hooks.value(x, row, j));
    }
  }
}

#else

extern "C" __global__ void fill_reference(View<f64, 2> Y, F x, const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < dims.M * dims.N; i += s64{gridDim.x} * blockDim.x)
    Y.data[i / dims.N * Y.stride[0] + i % dims.N * Y.stride[1]] = exact_cast<T>(hooks.value(x, i / dims.N, i % dims.N));
}

#endif

//! kernel  transpose "D[b,j,i] = S[b,i,j], bit for bit, rows at any pitch and address"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/transpose.cuh"
//!
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, moved one by one"
//! param   WHOLE_S = 1   in {1, 0}                  "1: rows of S begin at 16 bytes"
//! param   DOWN    = 2   in {1, 2, 4}               "its height in units of 128 bytes of a row of D"
//!
//! let     ROWS    = DOWN * 128 / sizeof(T)
//! let     COLUMNS = ACROSS * 128 / sizeof(T)
//! let     THREADS = 64 * ACROSS * DOWN             "each transposes a square of 16 bytes by 16 bytes"
//! let     SMEM    = ROWS * COLUMNS * sizeof(T)
//! let     COUNT   = B * ceil_div(M, ROWS) * ceil_div(N, COLUMNS)
//!
//! require SMEM <= device.smem_per_block            "a tile must fit in shared memory"
//! require NEIGHBOURS == 0 || ((stride(S, 2) == 1 || N < 2) && (stride(D, 2) == 1 || M < 2)) "elements that move together must be neighbours"
//! require NEIGHBOURS == 0 || ((stride(S, 0) >= 0 || B < 2) && (stride(S, 1) >= 0 || M < 2)) "S must begin with its first element"
//! require WHOLE_S == 0 || (alignment(S) >= 16 && (stride(S, 0) * sizeof(T) % 16 == 0 || B < 2) && (stride(S, 1) * sizeof(T) % 16 == 0 || M < 2)) "rows of S must begin at 16 bytes"
//!
//! launch  grid COUNT  block THREADS  smem SMEM
//!
//! preset  NEIGHBOURS = 1, WHOLE_S = 1
//! preset  NEIGHBOURS = 1, WHOLE_S = 0
//! preset  NEIGHBOURS = 0, WHOLE_S = 0, DOWN = 1

#include "device/epilogue/store_tile.cuh"
#include "device/reference/transpose.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/register_square.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/unaligned.cuh"

#ifndef TMA_JIT_REFERENCE

using Square = RegisterSquare<T>;
using Shared = SharedTile<T, COLUMNS, ROWS, 128>;
constexpr int kSide = Square::kSide;
static_assert(sizeof(Shared) == SMEM);

__device__ inline u64 address(const T* element) {
  return reinterpret_cast<u64>(element);
}

// Loads the rows of a square, which begin at `from`, by aligned accesses.
__device__ inline Square load(const T* from, s64 pitch, int rows) {
  uint4 low[kSide], high[kSide];
#pragma unroll
  for (int k = 0; k < kSide; ++k) {
    const u64 at = address(from + min(k, rows - 1) * pitch) / 16 * 16;
    low[k] = reinterpret_cast<const uint4*>(at)[0];
    if constexpr (WHOLE_S == 0) high[k] = reinterpret_cast<const uint4*>(at)[1];
  }
  Square square;
#pragma unroll
  for (int k = 0; k < kSide; ++k) {
    const u32 shift = address(from + min(k, rows - 1) * pitch) % 16;
    square.set(k, WHOLE_S == 1 ? low[k] : unaligned::shifted<sizeof(T)>(low[k], high[k], shift));
  }
  return square;
}

// Writes a square, which lies in S from `from` on and has `rows` rows and `columns` columns inside S, into the
// transposed tile. Aligned accesses may also read other bytes between the first element of S and its end; where they
// would read beyond these, elements are moved one by one.
__device__ inline void transpose_square(Shared& tile, SquarePosition p, const View<const T, 3>& S, u64 end,
                                        const T* from, int rows, int columns) {
  const int row = p.across * kSide, column = p.down * kSide;
  const u64 last = address(from + (rows - 1) * S.stride[1]) / 16 * 16 + (WHOLE_S == 1 ? 16 : 32);
  const bool empty = rows <= 0 || columns <= 0;
  if (empty || (NEIGHBOURS == 1 && address(from) / 16 * 16 >= address(S.data) && last <= end)) {
    const Square square = empty ? Square{} : load(from, S.stride[1], rows).transposed();
#pragma unroll
    for (int k = 0; k < kSide; ++k) tile.at<uint4>(row + k, column) = square[k];
  } else {
#pragma unroll 1
    for (int i = 0; i < kSide * kSide; ++i) {
      const int k = i / kSide, c = i % kSide;
      tile.at(row + c, column + k) = k < rows && c < columns ? from[k * S.stride[1] + c * S.stride[2]] : T{};
    }
  }
}

// Stores the part of a transposed tile inside a matrix of D to (row, column), 16 bytes at an aligned address at a time.
// `Whole`: rows of D begin at 16 bytes.
template <bool Whole>
__device__ inline void store(const View<T, 2>& to, const Shared& tile, const Dims& dims, int row, int column) {
  constexpr int kChunks = ROWS / kSide, kUnits = kChunks + (Whole ? 0 : 1);
  const int bytes = min(ROWS, dims.M - column) * int{sizeof(T)};
  for (int i = threadIdx.x; i < COLUMNS * kUnits && row + i / kUnits < dims.N; i += THREADS) {
    const int r = i / kUnits, unit = i % kUnits;
    u8* const first = reinterpret_cast<u8*>(to.data + (row + r) * to.stride[0] + column);
    const int before = Whole ? 0 : reinterpret_cast<u64>(first) % 16, at = unit * 16 - before;
    if (at >= bytes) continue;
    uint4 x = tile.at<const uint4>(r, min(unit, kChunks - 1) * kSide);
    if (before != 0)
      x = unaligned::shifted<sizeof(T)>(tile.at<const uint4>(r, max(unit - 1, 0) * kSide), x, 16 - before);
    if (at >= 0 && at + 16 <= bytes)
      *reinterpret_cast<uint4*>(first + at) = x;
    else
      unaligned::store_part<T>(first + at, x, -at, bytes - at);
  }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void transpose(View<const T, 3> S, View<T, 3> D, const Dims dims) {
  Shared& tile = shared_memory<Shared>();
  const PersistentTiles<ROWS, COLUMNS, GROUP> tiles(dims.M, dims.N);
  const u32 count = *tiles.end();
  const s64 batch = blockIdx.x / count;
  const Tile at = tiles[blockIdx.x % count];
  const int row = at.row * ROWS, column = at.column * COLUMNS;
  const u64 end = address(S.data + (dims.B - 1) * S.stride[0] + (dims.M - 1) * S.stride[1] + dims.N);

  const SquarePosition p = diagonal_square<ACROSS>(threadIdx.x);
  const int top = row + p.down * kSide, left = column + p.across * kSide;
  transpose_square(tile, p, S, end, S.data + batch * S.stride[0] + top * S.stride[1] + left * S.stride[2],
                   min(kSide, dims.M - top), min(kSide, dims.N - left));
  __syncthreads();
  const View<T, 2> to = {D.data + batch * D.stride[0], {D.stride[1], D.stride[2]}};
  if constexpr (NEIGHBOURS == 0)
    store_elements<THREADS, 1>(to, tile, {dims.N, dims.M}, column, row, threadIdx.x);
  else if (rows_of_16_bytes(to))
    store<true>(to, tile, dims, column, row);
  else
    store<false>(to, tile, dims, column, row);
}

#else

extern "C" __global__ void transpose_reference(View<const T, 3> S, View<f64, 3> D, const Dims dims) {
  reference_transpose(S, D, dims.B, dims.M, dims.N);
}

#endif

//! kernel  transpose "D[b,j,i] = S[b,i,j], bit for bit, rows at any pitch and address"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/transpose.cuh"
//!
//! param   ACROSS  = 1   in {1, 2, 4}               "width of a tile in units of 128 bytes of a row of S"
//! param   GROUP   = 8   in {1, 4, 8, 16, 32}       "rows of tiles that are processed together, column by column"
//! param   NEIGHBOURS = 1 in {1, 0}                 "0: elements at any stride, moved one by one"
//! param   WHOLE_S = 1   in {1, 0}                  "1: rows of S begin at 16 bytes"
//! param   WHOLE_D = 1   in {1, 0}                  "1: rows of D begin at 32 bytes, of which memory is written at once"
//! param   DOWN    = 2   in {1, 2, 4}               "its height in units of 128 bytes of a row of D"
//!
//! let     ROWS    = DOWN * 128 / sizeof(T)
//! let     COLUMNS = ACROSS * 128 / sizeof(T)
//! let     THREADS = 64 * ACROSS * DOWN             "each transposes a square of 16 bytes by 16 bytes"
//! let     PITCH   = ACROSS * 128 + (WHOLE_S == 1 ? 0 : 16) "bytes of a row of S that are copied first"
//! let     HALO    = WHOLE_D == 1 ? 0 : 32 / sizeof(T) "rows of S that a tile has more than it stores, so that it stores whole 32 bytes"
//! let     STEP    = ROWS - HALO
//! let     SMEM    = align_up(ROWS * PITCH, 1024)
//! let     COUNT   = M == 0 ? 0 : B * ceil_div(M + max(HALO - 1, 0), STEP) * ceil_div(N, COLUMNS)
//!
//! require SMEM <= device.smem_per_block            "a tile must fit in shared memory"
//! require NEIGHBOURS == 0 || ((stride(S, 2) == 1 || N < 2) && (stride(D, 2) == 1 || M < 2)) "elements that move together must be neighbours"
//! require NEIGHBOURS == 0 || ((stride(S, 0) >= 0 || B < 2) && (stride(S, 1) >= 0 || M < 2)) "S must begin with its first element"
//! require WHOLE_S == 0 || (alignment(S) >= 16 && (stride(S, 0) * sizeof(T) % 16 == 0 || B < 2) && (stride(S, 1) * sizeof(T) % 16 == 0 || M < 2)) "rows of S must begin at 16 bytes"
//! require WHOLE_D == 0 || NEIGHBOURS == 0 || (alignment(D) >= 32 && (stride(D, 0) * sizeof(T) % 32 == 0 || B < 2) && ((stride(D, 1) | M) * sizeof(T) % 32 == 0 || N < 2)) "rows of D must begin at 32 bytes"
//! require NEIGHBOURS == 1 || WHOLE_D == 1          "elements that move one by one are stored so"
//!
//! launch  grid COUNT  block THREADS  smem SMEM
//!
//! preset  NEIGHBOURS = 1, WHOLE_S = 1, WHOLE_D = 1, ACROSS = 1, DOWN = 1  when sizeof(T) == 1 && N <= 128
//! preset  NEIGHBOURS = 1, WHOLE_S = 1, WHOLE_D = 1, ACROSS = 2, DOWN = 1  when sizeof(T) == 1
//! preset  NEIGHBOURS = 1, WHOLE_S = 0, WHOLE_D = 1, ACROSS = 2, DOWN = 1  when sizeof(T) == 1
//! preset  NEIGHBOURS = 1, WHOLE_S = 1, WHOLE_D = 1, ACROSS = 2, DOWN = 2, GROUP = 1
//! preset  NEIGHBOURS = 1, WHOLE_S = 0, WHOLE_D = 1, ACROSS = 2, DOWN = 2, GROUP = 1
//! preset  NEIGHBOURS = 1, WHOLE_S = 1, WHOLE_D = 0, ACROSS = 2, DOWN = 2, GROUP = 1  when sizeof(T) > 1 && B == 1
//! preset  NEIGHBOURS = 1, WHOLE_S = 0, WHOLE_D = 0, ACROSS = 2, DOWN = 2, GROUP = 1  when sizeof(T) > 1 && B == 1
//! preset  NEIGHBOURS = 1, WHOLE_S = 1, WHOLE_D = 0, ACROSS = 2, DOWN = 1  when sizeof(T) == 1 && M <= 8192
//! preset  NEIGHBOURS = 1, WHOLE_S = 0, WHOLE_D = 0, ACROSS = 2, DOWN = 1  when sizeof(T) == 1 && M <= 8192
//! preset  NEIGHBOURS = 1, WHOLE_S = 1, WHOLE_D = 0, DOWN = 2
//! preset  NEIGHBOURS = 1, WHOLE_S = 0, WHOLE_D = 0, DOWN = 2
//! preset  NEIGHBOURS = 0, WHOLE_S = 0, DOWN = 1

#include "device/epilogue/store_tile.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/reference/transpose.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/register_square.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/unaligned.cuh"

#ifndef TMA_JIT_REFERENCE

using Square = RegisterSquare<T>;
using Shared = SharedTile<T, COLUMNS, ROWS, 128>;
constexpr int kSide = Square::kSide;
union Smem {
  Shared tile;
  u8 staged[ROWS][PITCH];
};
static_assert(sizeof(Smem) == SMEM);

__device__ inline u64 address(const T* element) {
  return reinterpret_cast<u64>(element);
}

// Copies the 16 bytes at aligned addresses that contain the tile's rows of S, of which the first would begin at `from`.
// Those from `begin` to before `end` are in S, with `columns` columns; instead of others zeros are written.
__device__ inline void stage(Smem& smem, const View<const T, 3>& S, const T* from, int begin, int end, int columns) {
  constexpr int kChunks = PITCH / 16;
  for (int i = threadIdx.x; i < ROWS * kChunks; i += THREADS) {
    const int r = i / kChunks, c = i % kChunks * 16;
    const u64 first = address(from + max(min(r, end - 1), begin) * S.stride[1]), at = first / 16 * 16 + c;
    const int left = r >= begin && r < end ? static_cast<int>(first % 16) + columns * int{sizeof(T)} - c : 0;
    u8* const to = &smem.staged[r][c];
    if (at >= address(S.data)) {
      const void* const source = reinterpret_cast<const void*>(left > 0 ? at : first / 16 * 16);
      cp_async::cg(smem_address(to), source, max(min(left, 16), 0));
    } else {
#pragma unroll 1
      for (int k = 0; k < 16 / int{sizeof(T)}; ++k) {
        const bool inside = at + k * sizeof(T) >= address(S.data) && k * int{sizeof(T)} < left;
        reinterpret_cast<T*>(to)[k] = inside ? reinterpret_cast<const T*>(at)[k] : T{};
      }
    }
  }
  cp_async::wait_all();
}

// Transposes the staged rows, of which the first begins at `from`.
__device__ inline void transpose_staged(Smem& smem, SquarePosition p, const View<const T, 3>& S, const T* from) {
  Square square;
#pragma unroll
  for (int k = 0; k < kSide; ++k) {
    const int row = p.down * kSide + k;
    const uint4* const in = reinterpret_cast<const uint4*>(&smem.staged[row][p.across * 16]);
    if constexpr (WHOLE_S == 1)
      square.set(k, in[0]);
    else
      square.set(k, unaligned::shifted<sizeof(T)>(in[0], in[1], address(from + row * S.stride[1]) % 16));
  }
  square = square.transposed();
  __syncthreads();  // every thread has read its square
#pragma unroll
  for (int k = 0; k < kSide; ++k) smem.tile.at<uint4>(p.across * kSide + k, p.down * kSide) = square[k];
}

// Stores the part of a transposed tile inside a matrix of D, 16 bytes at an aligned address at a time: of each row from
// the first multiple of 32 bytes at or before `column` to that of the next tile.
__device__ inline void store(const View<T, 2>& to, const Shared& tile, const Dims& dims, int row, int column) {
  constexpr int kUnits = STEP / kSide, kHalo = HALO * sizeof(T);
  const int begin = -min(column, HALO) * int{sizeof(T)}, end = min(ROWS, dims.M - column) * int{sizeof(T)};
  for (int i = threadIdx.x; i < COLUMNS * kUnits && row + i / kUnits < dims.N; i += THREADS) {
    const int r = i / kUnits, unit = i % kUnits;
    u8* const first = reinterpret_cast<u8*>(to.data + (row + r) * to.stride[0] + column);
    const int before = HALO == 0 ? 0 : reinterpret_cast<u64>(first) % 32, at = unit * 16 - before;
    if (at >= end || at + 16 <= begin) continue;
    const int chunk = (kHalo - before) / 16 + unit, shift = (kHalo - before) % 16;
    uint4 x = tile.at<const uint4>(r, chunk * kSide);
    if (HALO > 0 && shift != 0)
      x = unaligned::shifted<sizeof(T)>(x, tile.at<const uint4>(r, (chunk + 1) * kSide), shift);
    if (at >= begin && at + 16 <= end)
      *reinterpret_cast<uint4*>(first + at) = x;
    else
      unaligned::store_part<T>(first + at, x, begin - at, end - at);
  }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void transpose(View<const T, 3> S, View<T, 3> D, const Dims dims) {
  Smem& smem = shared_memory<Smem>();
  Shared& tile = smem.tile;
  const PersistentTiles<STEP, COLUMNS, GROUP> tiles(dims.M + max(HALO - 1, 0), dims.N);
  const u32 count = *tiles.end();
  const s64 batch = blockIdx.x / count;
  const Tile at = tiles[blockIdx.x % count];
  const int row = at.row * STEP, column = at.column * COLUMNS, top = row - HALO;
  const T* const from = S.data + batch * S.stride[0] + top * S.stride[1] + column * S.stride[2];
  const int rows = min(ROWS, dims.M - top), columns = min(COLUMNS, dims.N - column);
  const View<T, 2> to = {D.data + batch * D.stride[0], {D.stride[1], D.stride[2]}};
  if constexpr (NEIGHBOURS == 1) {
    stage(smem, S, from, max(-top, 0), rows, columns);
    __syncthreads();
    transpose_staged(smem, diagonal_square<ACROSS>(threadIdx.x), S, from);
    __syncthreads();
    store(to, tile, dims, column, row);
  } else {
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += THREADS) {
      const int r = i / COLUMNS, c = i % COLUMNS;
      tile.at(c, r) = r < rows && c < columns ? from[r * S.stride[1] + c * S.stride[2]] : T{};
    }
    __syncthreads();
    store_elements<THREADS>(to, tile, {dims.N, dims.M}, column, row, threadIdx.x);
  }
}

#else

extern "C" __global__ void transpose_reference(View<const T, 3> S, View<f64, 3> D, const Dims dims) {
  reference_transpose(S, D, dims.B, dims.M, dims.N);
}

#endif

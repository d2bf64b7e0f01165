//! kernel  transpose "D[b,j,i] = S[b,i,j], bit for bit, rows at any pitch that is a multiple of 16 bytes"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/transpose.cuh"
//!
//! param   ACROSS  = 1   in {1, 2, 4}               "width of a tile in units of 128 bytes of a row of S"
//! param   GROUP   = 8   in {1, 4, 8, 16, 32}       "rows of tiles that are processed together, column by column"
//! param   DOWN    = 1   in {1, 2, 4}               "its height in units of 128 bytes of a row of D"
//! param   TILES   = 1   in {1, 2, 4}               "tiles of a block, all in flight"
//! param   THREADS = 64  in {64, 128, 256}
//! param   TMA_STORE = 1 in {1, 0}                  "0: threads store from registers"
//!
//! let     ROWS    = DOWN * 128 / sizeof(T)
//! let     COLUMNS = ACROSS * 128 / sizeof(T)
//! let     BYTES   = ROWS * COLUMNS * sizeof(T)     "of a tile"
//! let     SMEM    = align_up(TILES * (BYTES + 8), 1024)
//! let     COUNT   = B * ceil_div(M, ROWS) * ceil_div(N, COLUMNS)
//!
//! require M * sizeof(T) % 32 != 16 || B * M * N * sizeof(T) < 33554432 "transpose_rows.cu is faster where rows of D do not begin at 32 bytes"
//! require device.compute_capability != 90 || B > 1 || sizeof(T) == 1 || sizeof(T) == 8 || min(M, N) < 1024 || M * N * sizeof(T) < 134217728 "on sm_90a transpose_rows.cu is faster at a large matrix of 2 or 4 bytes"
//! require device.compute_capability != 90 || B > 1 || sizeof(T) > 1 || M * N < 33554432 || min(M, N) >= 1024 "on sm_90a transpose_rows.cu is faster at a long, narrow matrix of bytes"
//! require SMEM <= device.smem_per_block            "the tiles in flight must fit in shared memory"
//! require 64 * ACROSS * DOWN >= THREADS            "every thread transposes a square of 16 bytes by 16 bytes"
//! require BYTES / THREADS <= 256                   "a thread keeps its squares of a tile in registers"
//!
//! tensor  S  box [1, ROWS, 128 / sizeof(T)]     swizzle 128
//! tensor  D  box [1, COLUMNS, 128 / sizeof(T)]  swizzle 128  view
//!
//! launch  grid ceil_div(COUNT, TILES)  block THREADS  smem SMEM
//!
//! preset  ACROSS = 2, DOWN = 2, THREADS = 256, GROUP = 1, TMA_STORE = 0  when sizeof(T) == 1 && B == 1 && M * N >= 100663296 && min(M, N) >= 1024
//! preset  ACROSS = 2, DOWN = 1, THREADS = 128, GROUP = 1  when sizeof(T) == 1 && B == 1 && M * N >= 33554432 && min(M, N) >= 1024
//! preset  ACROSS = 1, DOWN = 1, THREADS = 64   when sizeof(T) == 1
//! preset  ACROSS = 1, DOWN = 1, THREADS = 64   when sizeof(T) == 2
//! preset  ACROSS = 2, DOWN = 2, THREADS = 128  when sizeof(T) >= 4

#include "device/epilogue/store_tile.cuh"
#include "device/reference/transpose.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/pack.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_tile.cuh"
#include "device/tile/transpose_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Square = RegisterSquare<T>;
constexpr int kSide = Square::kSide;

using Shared = TransposedTile<T, ROWS, COLUMNS>;
struct Smem {
  Shared tile[TILES];
  Barrier full[TILES];
};
static_assert(sizeof(Smem) == SMEM);

// Where a tile begins in S; matrices beyond the last one are empty.
struct Origin {
  int batch, row, column;
};

__device__ inline Origin origin(u32 index, const Dims& dims) {
  const PersistentTiles<ROWS, COLUMNS, GROUP> tiles(dims.M, dims.N);
  const u32 count = *tiles.end();
  const Tile tile = tiles[index % count];
  return {static_cast<int>(index / count), tile.row * ROWS, tile.column * COLUMNS};
}

// Stores the part of a transposed square inside a matrix of D to (row, column).
__device__ inline void store(const View<T, 2>& to, const Square& square, const Dims& dims, int row, int column) {
#pragma unroll
  for (int i = 0; i < kSide; ++i) {
    const uint4 x = square[i];
    if (row + i < dims.N && column < dims.M)
      store_pack(to.data + (row + i) * to.stride[0] + column, reinterpret_cast<const Pack<T, kSide>&>(x),
                 dims.M - column);
  }
}

// Stores the part of a transposed tile inside D. TMA clips a store to the tensor only in units of 16 bytes: a tile with
// a partial unit at the end of its rows is written element by element.
__device__ inline void store(const CUtensorMap& map, const View<T, 2>& to, const SharedTile<T, COLUMNS, ROWS>& tile,
                             const Dims& dims, const Origin& at) {
  const int left = dims.M - at.row;
  tma::fence();
  __syncthreads();
  if (left < ROWS && left * sizeof(T) % 16 != 0) {
    store_elements<THREADS>(to, tile, {dims.N, dims.M}, at.column, at.row, threadIdx.x);
  } else if (threadIdx.x == 0) {
    tma::store(map, tile, {at.row, at.column, at.batch});
    tma::commit();
  }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void transpose(const __grid_constant__ CUtensorMap S,
                                                                   const __grid_constant__ Mapped<T, 3> D,
                                                                   const Dims dims) {
  Smem& smem = shared_memory<Smem>();
  if (threadIdx.x == 0) {
#pragma unroll
    for (Barrier& full : smem.full) full.init(1);
    fence_barrier_init();
#pragma unroll 1
    for (int i = 0; i < TILES; ++i) {
      const Origin at = origin(blockIdx.x * TILES + i, dims);
      smem.full[i].expect(BYTES);
      tma::load(smem.tile[i].in, S, smem.full[i], {at.column, at.row, at.batch});
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int i = 0; i < TILES; ++i) {
    const Origin at = origin(blockIdx.x * TILES + i, dims);
    Shared& tile = smem.tile[i];
    smem.full[i].wait(0);
    if (at.batch >= dims.B) continue;
    const View<T, 2> to = {D.view.data + at.batch * D.view.stride[0], {D.view.stride[1], D.view.stride[2]}};
    if constexpr (TMA_STORE == 1) {
      transpose<THREADS>(tile);
      store(D.map, to, tile.out, dims, at);
    } else {
#pragma unroll
      for (int s = threadIdx.x; s < 64 * ACROSS * DOWN; s += THREADS) {
        const SquarePosition p = diagonal_square<ACROSS>(s);
        Square square;
#pragma unroll
        for (int k = 0; k < kSide; ++k) square.set(k, tile.in.at<const uint4>(p.down * kSide + k, p.across * kSide));
        store(to, square.transposed(), dims, at.column + p.across * kSide, at.row + p.down * kSide);
      }
    }
  }
  if constexpr (TMA_STORE == 1)
    if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

#else

extern "C" __global__ void transpose_reference(View<const T, 3> S, View<f64, 3> D, const Dims dims) {
  reference_transpose(S, D, dims.B, dims.M, dims.N);
}

#endif

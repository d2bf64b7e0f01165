//! kernel  permute  "D = S with its dimensions in another order, bit for bit: dimension k of D is dimension Pk of S; rows of both begin at 16 bytes"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/permute.cuh"
//!
//! param   P1      = 1   in 0..4
//! param   P2      = 2   in 0..4
//! param   P3      = 4   in 0..4
//! param   P4      = 3   in 0..4                    "and which the innermost"
//! param   ACROSS  = 1   in {1, 2, 4}               "width of a tile in units of 128 bytes of a row of S"
//! param   DOWN    = 1   in {1, 2, 4}               "its height in units of 128 bytes of a row of D"
//! param   THREADS = 64  in {64, 128, 256}
//! param   GROUP   = 8   in {1, 4, 8, 16, 32}       "rows of tiles that are processed together, column by column"
//!
//! let     Q       = P0 == 4 ? 0 : P1 == 4 ? 1 : P2 == 4 ? 2 : 3 "where S's innermost dimension is in D"
//! let     BATCH   = (P4 == 0 ? 1 : N0) * (P4 == 1 ? 1 : N1) * (P4 == 2 ? 1 : N2) * (P4 == 3 ? 1 : N3)
//! let     ROWS    = DOWN * 128 / sizeof(T)
//! let     COLUMNS = ACROSS * 128 / sizeof(T)
//! let     BYTES   = ROWS * COLUMNS * sizeof(T)     "of a tile"
//! let     SMEM    = align_up(BYTES + 8, 1024)
//!
//! require P4 != 4                                  "the innermost dimension of S must move"
//! require SMEM <= device.smem_per_block            "a tile must fit in shared memory"
//! require 64 * ACROSS * DOWN >= THREADS            "every thread transposes a square of 16 bytes by 16 bytes"
//! require BYTES / THREADS <= 256                   "a thread keeps its squares of a tile in registers"
//!
//! tensor  S  box [P4 == 0 ? ROWS : 1, P4 == 1 ? ROWS : 1, P4 == 2 ? ROWS : 1, P4 == 3 ? ROWS : 1, 128 / sizeof(T)]          swizzle 128
//! tensor  D  box [Q == 0 ? COLUMNS : 1, Q == 1 ? COLUMNS : 1, Q == 2 ? COLUMNS : 1, Q == 3 ? COLUMNS : 1, 128 / sizeof(T)]  swizzle 128  view
//!
//! launch  grid BATCH * ceil_div(E4, ROWS) * ceil_div(N4, COLUMNS)  block THREADS  smem SMEM
//!
//! preset  ACROSS = 1, DOWN = 1, THREADS = 64   when sizeof(T) < 4 && N2 <= 2  "few enough elements to be emulated quickly"
//! preset  ACROSS = 2, DOWN = 2, THREADS = 128  when sizeof(T) >= 4 && N2 <= 2
//! preset  ACROSS = 2, DOWN = 2, THREADS = 256  when sizeof(T) == 2 && min(N4, E4) >= 256
//! preset  ACROSS = 1, DOWN = 1, THREADS = 64   when sizeof(T) < 4
//! preset  ACROSS = 2, DOWN = 2, THREADS = 128  when sizeof(T) >= 4

#include "device/epilogue/store_tile.cuh"
#include "device/reference/permute.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_tile.cuh"
#include "device/tile/transpose_tile.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  TransposedTile<T, ROWS, COLUMNS> tile;
  Barrier full;
};
static_assert(sizeof(Smem) == SMEM);

// The tile is a matrix of S's dimensions P4 and 4; the block's index gives its place in these and in the other three.
extern "C" __global__ __launch_bounds__(THREADS, 1) void permute(const __grid_constant__ CUtensorMap S,
                                                                 const __grid_constant__ Mapped<T, 5> D,
                                                                 const Dims dims) {
  constexpr int kOrder[5] = {P0, P1, P2, P3, P4};
  Smem& smem = shared_memory<Smem>();
  const int extent[5] = {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4};
  const int rows = extent[P4], columns = dims.N4;
  const PersistentTiles<ROWS, COLUMNS, GROUP> tiles(rows, columns);
  const u32 count = *tiles.end();
  const Tile tile = tiles[blockIdx.x % count];
  u32 batch = blockIdx.x / count;
  int at[5];
#pragma unroll
  for (int d = 3; d >= 0; --d) {
    if (d == P4) continue;
    at[d] = batch % extent[d];
    batch /= extent[d];
  }
  at[P4] = tile.row * ROWS;
  at[4] = tile.column * COLUMNS;

  if (threadIdx.x == 0) {
    smem.full.init(1);
    fence_barrier_init();
    smem.full.expect(BYTES);
    tma::load(smem.tile.in, S, smem.full, {at[4], at[3], at[2], at[1], at[0]});
  }
  __syncthreads();
  smem.full.wait(0);
  transpose<THREADS>(smem.tile);
  tma::fence();
  __syncthreads();
  const int left = rows - at[P4];
  if (left < ROWS && left * sizeof(T) % 16 != 0) {
    // TMA clips a store to the tensor only in units of 16 bytes.
    T* to = D.view.data;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (k != Q) to += at[kOrder[k]] * D.view.stride[k];
    store_elements<THREADS>(View<T, 2>{to, {D.view.stride[Q], D.view.stride[4]}}, smem.tile.out, {columns, rows}, at[4],
                            at[P4], threadIdx.x);
  } else if (threadIdx.x == 0) {
    tma::store(D.map, smem.tile.out, {at[P4], at[P3], at[P2], at[P1], at[P0]});
    tma::commit();
    tma::wait_read<0>();  // shared memory must outlive the store that reads it
  }
}

#else

extern "C" __global__ void permute_reference(View<const T, 5> S, View<f64, 5> D, const Dims dims) {
  reference_permute(S, D, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4}, {P0, P1, P2, P3, P4});
}

#endif

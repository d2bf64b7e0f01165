//! kernel  copy     "D[i,j] = S[i,j], bit for bit, rows at any pitch that is a multiple of 16 bytes"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//!
//! type    T      = u8    in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     M, N           in 0..2147483647
//!
//! param   ROWS   = 8     in {4, 8, 16, 32}         "rows of a box"
//! param   BOXES  = 4     in {1, 2, 4, 8}           "boxes of a block, one below the other, all in flight"
//!
//! let     COLUMNS = min(256, 512 / sizeof(T))
//! let     SMEM    = align_up(BOXES * (ROWS * COLUMNS * sizeof(T) + 8), 128)
//! let     DOWN    = ceil_div(M, ROWS * BOXES)
//! let     ACROSS  = ceil_div(N, COLUMNS)
//!
//! require SMEM <= device.smem_per_block            "the boxes in flight must fit in shared memory"
//!
//! tensor  S : T[M, N]    box [ROWS, COLUMNS]
//! tensor  D : T[M, N]    box [ROWS, COLUMNS]  out  view
//!
//! launch  grid DOWN * ACROSS  block 32  smem SMEM
//! work    flops 0  bytes 2 * M * N * sizeof(T)
//! reference copy_reference  grid min(ceil_div(M * N, 256), 65536)  block 256

#include "device/epilogue/store_tile.cuh"
#include "device/reference/copy.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  SharedTile<T, ROWS, COLUMNS, 0> box[BOXES];
  Barrier full[BOXES];
};
static_assert(sizeof(Smem) == SMEM);

extern "C" __global__ __launch_bounds__(32) void copy(const __grid_constant__ CUtensorMap S,
                                                      const __grid_constant__ Mapped<T, 2> D, const Dims dims) {
  Smem& smem = shared_memory<Smem>();
  const u32 across = ceil_div<u32>(dims.N, COLUMNS);
  const int column = blockIdx.x % across * COLUMNS, first = blockIdx.x / across * (ROWS * BOXES);
  // TMA clips a store to the tensor only in units of 16 bytes: a box with a partial unit at the end of its rows is
  // written element by element.
  const int columns = dims.N - column;
  const bool ragged = columns < COLUMNS && columns * sizeof(T) % 16 != 0;

  if (threadIdx.x == 0) {
#pragma unroll 1
    for (Barrier& full : smem.full) full.init(1);
    fence_barrier_init();
#pragma unroll 1
    for (int i = 0; i < BOXES; ++i) {
      smem.full[i].expect(sizeof(smem.box[i]));
      tma::load(smem.box[i], S, smem.full[i], column, first + i * ROWS);
    }
  }
  __syncwarp();
#pragma unroll 1
  for (int i = 0; i < BOXES && first + i * ROWS < dims.M; ++i) {
    const int row = first + i * ROWS;
    smem.full[i].wait(0);
    if (ragged)
      store_elements<32>(D.view, smem.box[i], {dims.M, dims.N}, row, column, threadIdx.x);
    else if (threadIdx.x == 0)
      tma::store(D.map, smem.box[i], column, row);
  }
  if (threadIdx.x != 0) return;
#pragma unroll 1
  for (Barrier& full : smem.full) full.wait(0);  // also waits for boxes below the tensor
  tma::commit();
  tma::wait_read<0>();
}

#else

extern "C" __global__ void copy_reference(View<const T, 2> S, View<f64, 2> D, const Dims dims) {
  reference_copy(S, D, dims.M, dims.N);
}

#endif

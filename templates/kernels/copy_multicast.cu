//! kernel  copy_multicast  "D[c,i,j] = S[i,j] for every copy c, bit for bit; with CLUSTER=2 or 4 a cluster reads each box of S once"
//! arch    sm_90a, sm_100a, sm_103a
//!
//! type    T       = u8  in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     COPIES        in 1..64
//! dim     M, N          in 0..2147483647
//!
//! param   CLUSTER = 1   in {1, 2, 4}               "blocks that share what is read: each writes a copy of its own"
//! param   ROWS    = 16  in {8, 16, 32}             "rows of a box"
//! param   BOXES   = 2   in {1, 2, 4}               "boxes of a block, one below the other, all in flight"
//!
//! let     COLUMNS = min(256, 512 / sizeof(T))
//! let     SMEM    = align_up(BOXES * (ROWS * COLUMNS * sizeof(T) + 8), 128)
//! let     DOWN    = ceil_div(M, ROWS * BOXES)
//! let     ACROSS  = ceil_div(N, COLUMNS)
//!
//! require SMEM <= device.smem_per_block            "the boxes in flight must fit in shared memory"
//! require COPIES % CLUSTER == 0                    "a cluster makes CLUSTER copies"
//!
//! tensor  S : T[M, N]          box [ROWS / CLUSTER, COLUMNS]
//! tensor  D : T[COPIES, M, N]  box [1, ROWS, COLUMNS]  out  view
//!
//! cluster CLUSTER
//! launch  grid DOWN * ACROSS * COPIES  block 32  smem SMEM
//! work    flops 0  bytes (COPIES + 1) * M * N * sizeof(T)
//! reference copy_multicast_reference  grid min(ceil_div(M * N, 256), 65536), COPIES  block 256
//!
//! preset  CLUSTER = 1                              "fastest: L2 is not what the copy waits for (docs/tensor-maps.md)"
//! preset  CLUSTER = 2  when COPIES % 2 == 0        "half the reads of L2"
//! preset  CLUSTER = 4  when COPIES % 4 == 0        "a quarter of the reads of L2"

#include "device/epilogue/store_tile.cuh"
#include "device/ptx/cluster.cuh"
#include "device/ptx/cvt.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  SharedTile<T, ROWS, COLUMNS, 0> box[BOXES];
  Barrier full[BOXES];
};
static_assert(sizeof(Smem) == SMEM);

extern "C" __global__ __launch_bounds__(32) void copy_multicast(const __grid_constant__ CUtensorMap S,
                                                                const __grid_constant__ Mapped<T, 3> D,
                                                                const Dims dims) {
  Smem& smem = shared_memory<Smem>();
  const u32 across = ceil_div<u32>(dims.N, COLUMNS), tile = blockIdx.x / dims.COPIES, copy = blockIdx.x % dims.COPIES;
  const int column = tile % across * COLUMNS, first = tile / across * (ROWS * BOXES);
  // TMA clips a store to the tensor only in units of 16 bytes: a box with a partial unit at the end of its rows is
  // written element by element.
  const int columns = dims.N - column;
  const bool ragged = columns < COLUMNS && columns * sizeof(T) % 16 != 0;
  const View<T, 2> made = {D.view.data + copy * D.view.stride[0], {D.view.stride[1], D.view.stride[2]}};

  if (threadIdx.x == 0) {
#pragma unroll 1
    for (Barrier& full : smem.full) {
      full.init(1);
      full.expect(sizeof(smem.box[0]));
    }
    fence_barrier_init();
  }
  __syncwarp();
  if constexpr (CLUSTER > 1) cluster::sync();
  // Every block announces complete boxes on its barriers, and loads its share of each box into all blocks of the
  // cluster.
  if (threadIdx.x == 0) {
    const int rank = CLUSTER == 1 ? 0 : cluster::rank();
#pragma unroll 1
    for (int i = 0; i < BOXES; ++i)
      tma::load_shares<CLUSTER>(smem.box[i], S, smem.full[i], rank, column, first + i * ROWS);
  }
#pragma unroll 1
  for (int i = 0; i < BOXES; ++i) {
    const int row = first + i * ROWS;
    smem.full[i].wait(0);
    if (row >= dims.M) continue;  // boxes below the tensor are loaded too, but not stored
    if (ragged)
      store_elements<32>(made, smem.box[i], {dims.M, dims.N}, row, column, threadIdx.x);
    else if (threadIdx.x == 0)
      tma::store(D.map, &smem.box[i], {column, row, static_cast<int>(copy)});
  }
  if (threadIdx.x == 0) {
    tma::commit();
    tma::wait_read<0>();
  }
  __syncwarp();
  if constexpr (CLUSTER > 1) cluster::sync();  // no block may exit while others may still receive its shares
}

#else

extern "C" __global__ void copy_multicast_reference(View<const T, 2> S, View<f64, 3> D, const Dims dims) {
  const s64 count = s64{dims.M} * dims.N, copy = blockIdx.y;
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += s64{gridDim.x} * blockDim.x) {
    const s64 row = i / dims.N, column = i % dims.N;
    D.data[copy * D.stride[0] + row * D.stride[1] + column * D.stride[2]] =
        to_f64(S.data[row * S.stride[0] + column * S.stride[1]]);
  }
}

#endif

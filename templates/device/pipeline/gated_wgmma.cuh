#pragma once
// Gated products by wgmma: the two are one, of A with tiles of B and G below each other, so that a thread has the sums
// of both for the same elements of D, neither goes to memory, and A is read once. T, U, O, Hooks, Dims, Tiles and what
// the manifest names and the headers of device/epilogue are the template's.
//
// What the files of gemm_gated and gemm_gated_batched by wgmma share of their manifests, which `use` this after their
// references':
//! param   BM      = 128  in {64, 128, 192, 256}    "rows of D per block"
//! param   BN      = 128  in {16, 32, 48, 64, 72, 80, 88, 96, 104, 112, 120, 128} "columns of D per block, half of the product's"
//! param   STAGES  = 4    in 2..12                  "tiles of A, B and G in flight"
//! param   CLUSTER = 1    in {1, 2}                 "blocks, one below the other, that share each tile of B and G by multicast"
//! param   PINGPONG = 0   in {0, 1}                 "0: the consumers share each tile; 1: two make tiles in turn, and one multiplies while the other stores"
//! param   FAST    = 0    in {0, 1} asked           "8-bit floats: 1 leaves whole sums to wgmma, which keeps 14 bits of them; 0 adds every 128 products in f32"
//! param   GROUP_M = 16   in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     WIDE      = 2 * BN                       "columns of the product"
//! let     SLICES    = PINGPONG ? BM / 64 : BM == 256 ? 2 : 1  "blocks of 64 rows per consumer warpgroup"
//! let     CONSUMERS = PINGPONG ? 2 : BM / (64 * SLICES)
//! let     THREADS   = 128 * (CONSUMERS + 1)
//! let     PROMOTED  = sizeof(T) == 1 && !integer(T) && FAST == 0
//! let     PART      = PROMOTED == 0 ? 0 : WIDE > 192 ? 64 : WIDE  "columns whose sums of 128 products are computed while others are added"
//! let     SETS      = WIDE > 192 || WIDE <= 128 && CONSUMERS < 3 ? 2 : 1 "sets of registers for PART columns, where there is room"
//! let     SUMS      = PROMOTED ? WIDE / 2 + SETS * PART / 2 : SLICES * WIDE / 2  "registers of a thread"
//! let     SWIZZLE   = BN * sizeof(O) % 128 == 0 ? 128 : BN * sizeof(O) % 64 == 0 ? 64 : 0 "of the epilogue's tiles"
//! let     EPI_N     = SWIZZLE > 0 ? SWIZZLE / sizeof(O) : BN / (BN & -BN) * max(8, 16 / sizeof(O)) "columns of D stored together: a swizzle row, or a plain row of an odd number of 16 bytes or more, so that stores of 8 rows use all banks"
//! let     EPI_BYTES = align_up(64 * EPI_N * sizeof(O), 128) "an epilogue tile"
//! let     RING      = STAGES * (BM + WIDE) * 128
//! let     EPI_TILES = BN / EPI_N % 2 == 0 && 226 * 1024 - RING >= 2 * CONSUMERS * EPI_BYTES ? 2 : 1 "epilogue tiles of a consumer"
//! let     SHARE     = BN / CLUSTER                 "rows of B, and of G, that a block loads"
//! let     SMEM      = align_up(RING + CONSUMERS * EPI_TILES * EPI_BYTES + 16 * STAGES + 16 + 80 * DYNAMIC, 1024)
//! let     TILES     = BATCH * ceil_div(M, BM * CLUSTER) * ceil_div(N, BN) "tiles of a whole cluster"
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count / CLUSTER))
//! let     BROKEN    = K * sizeof(T) % 128 != 0     "rows that lie across 128-byte lines of L2"
//! let     LOADED    = BM + 2 * SHARE               "rows that a block loads each step"
//! let     PRODUCT   = max(BM * WIDE * 278, BM * WIDE * 136 + BM * 11660 + WIDE * 7884) / 10000 "cycles of the tensor cores, or of shared memory"
//! let     STEP      = (max(40 + 1819 / STAGES, PRODUCT, LOADED * (BROKEN ? 263 : 126) / 100) + (BATCH * M * N * K > 150000000000) * LOADED / 10) * (PROMOTED == 0 || BM == 64 ? 100 : CONSUMERS == 3 || WIDE > 192 ? 104 : WIDE > 128 ? 107 : 99) / 100 "cycles of one step along K"
//! let     STORE     = BM * WIDE * (PINGPONG ? 60 : 40) / 1000 "cycles of storing a tile"
//! let     BYTES     = (A_BATCH * M + 2 * B_BATCH * N) * K * sizeof(T) + BATCH * M * N * sizeof(O) "of A, B, G and D"
//! let     MEMORY    = BYTES * (BROKEN ? 173 : 107) / 249229 "cycles of moving them"
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require CONSUMERS * (SUMS + (PROMOTED ? 24 : 40)) <= 480 && SUMS <= (CONSUMERS < 3 ? 200 : PROMOTED ? 136 : 100) "accumulators must fit in registers"
//! require FAST == 0 || sizeof(T) == 1 && !integer(T) "only sums of 8-bit floats can be cut short"
//! require PROMOTED == 0 || WIDE <= 192 || WIDE == 256 "sums of 8-bit floats that are added in f32 are made in an even number of parts of 64 columns, or in one"
//! require PROMOTED == 0 || SLICES == 1 && PINGPONG == 0 "sums of 8-bit floats that are added in f32 leave registers for 64 rows"
//! require sizeof(O) > 1 || BN % 16 == 0            "TMA stores rows of whole 16 bytes"
//! require DYNAMIC == 0 || CLUSTER == 1             "a block draws its tiles for itself"
//! require SHARE % 8 == 0                           "each block of a cluster loads whole swizzle atoms"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(TILES, WAVES) * CLUSTER  block THREADS  smem SMEM  waits
//! work    flops 4 * BATCH * M * N * K  bytes BYTES  cycles 10767 + (CLUSTER > 1) * 223 + max(WAVES * (60 + ceil_div(K, BK) * STEP), MEMORY) + min(WAVES * ceil_div(K, BK) * STEP, MEMORY) * 45 / 100 + STORE * (PINGPONG ? 2 : WAVES) + (M <= 64 && BM > 64 ? 20000 : 0) "as gemm's"
//!
//! preset  BM = 128, BN = 128, STAGES = 4
//! preset  BM = 128, BN = 96, STAGES = 5, CLUSTER = 2, PINGPONG = 1, GROUP_M = 8  when M > 64
//! preset  BM = 128, BN = 88, STAGES = 5, PINGPONG = 1, GROUP_M = 4  when M > 64
//! preset  BM = 128, BN = 80, STAGES = 5, CLUSTER = 2, PINGPONG = 1, GROUP_M = 8  when M > 64
//! preset  BM = 128, BN = 112, STAGES = 4, CLUSTER = 2  when M > 64
//! preset  BM = 128, BN = 64, STAGES = 6, PINGPONG = 1, GROUP_M = 4  when M > 64 && TILES <= 4 * device.sm_count
//! preset  BM = 128, BN = 128, STAGES = 4, CLUSTER = 2  when M > 64 && PROMOTED
//! preset  BM = 128, BN = 88, STAGES = 5, GROUP_M = 4  when M > 64 && PROMOTED
//! preset  BM = 128, BN = 64, STAGES = 6  when M > 64 && PROMOTED
//! preset  BM = 64, BN = 128, STAGES = 5  when TILES <= 4 * device.sm_count || M <= 64
//! preset  BM = 64, BN = 112, STAGES = 6  when TILES <= 4 * device.sm_count || M <= 64
//! preset  BM = 64, BN = 64, STAGES = 9  when TILES <= 4 * device.sm_count
//! preset  BM = 64, BN = 32, STAGES = 12  when TILES <= 4 * device.sm_count
#include "device/pipeline/drawn_tiles.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/pipeline/wgmma_multiplier.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_paired_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using S = f32;                                                           // in which hooks compute
using Accumulators = RegisterTile<layout::Mma<16, WIDE>, Unit<T>::Sum>;  // for one warp
using Staged = SharedTile<O, 64, EPI_N, SWIZZLE>;
constexpr int REGISTERS = CONSUMERS == 1 ? 240 : CONSUMERS == 2 ? 232 : 152;  // of a consumer's thread
using Store = tma::SliceStore<S, Staged, Hooks, BN, REGISTERS - SUMS - 56>;

struct Smem {
  OperandTile<false, T, BM, BK> a[STAGES];
  PairedTile<U, BN, BK> b[STAGES];
  Staged staged[CONSUMERS][EPI_TILES];
  Pipeline<STAGES, CLUSTER> pipeline;
  Turns turns;
  DrawnNumbers<DYNAMIC> drawn;
};
static_assert(sizeof(Smem) <= SMEM);

// Stores what the hooks make of 64 rows of sums; `matrix` is their argument after the row and the column.
template <class To, class... Matrix>
__device__ void store_sums(Smem& smem, Store& store, const To& to, const Dims& dims, const Hooks& hooks,
                           const Accumulators& sums, Matrix... matrix) {
  const int group = threadIdx.x / kWarpgroup;
  store.write(1 + group, smem.staged[group], to, {dims.M, dims.N}, hooks,
              gated<BN>(hooks, matrix...)(sums, store.first_row(), store.first_column()), matrix...);
}
// The same into D, of one matrix. Kernels of batches have another for their tiles, each of which lies in one of them.
template <class To, class Place>
__device__ void store_in(Smem& smem, Store& store, const To& D, const Place&, const Dims& dims, const Hooks& hooks,
                         const Accumulators& sums) {
  store_sums(smem, store, D, dims, hooks, sums);
}

// Multiplies and stores this consumer's tiles. Called by each consumer warpgroup. Only the copies of its previous tile
// to D may be in progress when it stores one.
template <class To, class Order>
__device__ void consume(Smem& smem, const To& D, const Order& tiles, const Dims& dims, const Hooks& hooks, int steps) {
  using Place = decltype(tiles[0]);
  struct PlacedStore : Store {
    Place tile;
  };
  multiply_tiles<Accumulators, CONSUMERS, SLICES, PINGPONG, PART, SETS, PlacedStore>(
      smem.pipeline, smem, tiles, steps,
      [&](const Place& tile, int block) -> PlacedStore {
        return {Store(tile.row * BM + block * 64, tile.column * BN), tile};
      },
      [&](PlacedStore& store, int part) { store.read_first(hooks, part); },
      [&](PlacedStore& store, const Accumulators& sums) { store_in(smem, store, D, store.tile, dims, hooks, sums); });
  if (threadIdx.x % kWarpgroup == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

#endif

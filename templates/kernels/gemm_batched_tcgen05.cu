//! kernel  gemm_batched "D[i] = epilogue(A[i] * B[i]^T) for each matrix i of a batch: A[M,K], B[N,K], D[M,N], f32 accumulation"
//! arch    sm_100a, sm_103a
//! prefer  1
//! use     "device/reference/gemm_batched.cuh"
//!
//! param   BN      = 256  in {32, 64, 96, 128, 160, 192, 224, 256} "columns of D per tile"
//! param   STAGES  = 6    in 2..8                   "tiles of A and B in flight"
//! param   PAIR    = 2    in {1, 2}                 "blocks that multiply one tile together, 128 rows of D each"
//! param   GROUP_M = 8    in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BM        = 128                          "rows of D per block: the lanes of tensor memory"
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     THREADS   = 192                          "four warps store, one loads, one multiplies"
//! let     EPI_N     = BN * sizeof(O) % 128 == 0 ? 128 / sizeof(O) : 32 "columns of D stored together: a swizzle row"
//! let     EPI_TILES = BN / EPI_N % 2 == 0 ? 2 : 1  "epilogue tiles stored together"
//! let     SMEM      = align_up(STAGES * (BM + BN / PAIR) * 128 + EPI_TILES * BM * EPI_N * sizeof(O) + 16 * STAGES + 48 + 144 * DYNAMIC, 1024)
//! let     TILES     = BATCH * ceil_div(M, BM * PAIR) * ceil_div(N, BN) "tiles of a pair"
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count / PAIR))
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require !integer(T) || device.compute_capability == 100 "of sm_100a and sm_103a only the first multiplies s8"
//! require TERMS == 1                               "gemm_f32_tcgen05 multiplies f32 by three terms"
//! require TA + TB == 0 || sizeof(T) <= 2           "this kernel reads only 8-bit and 16-bit types along M or N: give A and B, whose rows lie along K, which the kernel transpose makes"
//! require TB == 0 || BN / PAIR % (128 / sizeof(T)) == 0 "a block loads panels of 128 bytes of BT"
//! require BN / PAIR % 8 == 0                       "each block of a pair loads whole swizzle atoms of B"
//!
//! tensor  A   box [1, BM, BK]         swizzle 128  l2 256
//! tensor  AT  box [1, BK, 128 / sizeof(T)]         swizzle 128  l2 256
//! tensor  B   box [1, BN / PAIR, BK]  swizzle 128  l2 256
//! tensor  BT  box [1, BK, 128 / sizeof(T)]         swizzle 128  l2 256
//! tensor  D   box [1, BM, EPI_N]      swizzle EPI_N * sizeof(O)  view
//!
//! cluster PAIR
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES)) * PAIR  block THREADS  smem SMEM
//! work    flops 2 * BATCH * M * N * K  bytes (A_BATCH * M * K + B_BATCH * N * K) * sizeof(T) + BATCH * M * N * sizeof(O)  cycles 18246 + max(2 * BATCH * M * N * K / (device.sm_count * 8192), WAVES * ceil_div(K, BK) * max(100, 2 * BN), ((A_BATCH * M * K + B_BATCH * N * K) * sizeof(T) + BATCH * M * N * sizeof(O)) / 2230) "as gemm's; not measured"
//! reference gemm_batched_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256
//!
//! preset  BN = 64, STAGES = 8, PAIR = 1   when BATCH * ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  BN = 128, STAGES = 6, PAIR = 1  when BATCH * ceil_div(M, 256) * ceil_div(N, 256) <= device.sm_count / 4
//! preset  BN = 256, STAGES = 6, PAIR = 2

#include "device/epilogue/store_tensor_memory.cuh"
#include "device/pipeline/cancelled_tiles.cuh"
#include "device/pipeline/tcgen05_block.cuh"
#include "device/pipeline/tcgen05_multiplier.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/reference/gemm_batched.cuh"
#include "device/schedule/batched.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = BatchTiles<BM, BN, GROUP_M, PAIR>;

constexpr int kColumns = tensor_memory::allocation(kAccumulators * BN);

struct Smem {
  using Staged = SharedTile<O, BM, EPI_N>;
  OperandTile<TA, T, BM, BK> a[STAGES];
  OperandTile<TB, U, BN / PAIR, BK> b[STAGES];
  Staged staged[EPI_TILES];
  Pipeline<STAGES> operands;
  Pipeline<kAccumulators, PAIR> accumulators;  // filled by the multiplying thread, drained by the storing warps
  CancelledLaunches<DYNAMIC, PAIR> launches;
  u32 address;  // of the accumulators, in tensor memory
};
static_assert(sizeof(Smem) <= SMEM);

// Loads the tiles of A, which has `count_a` matrices, and of B, as load_batch_operands does. A slot is free once the
// products that read it are complete in both blocks of a pair. The even block's barrier counts the bytes of both
// blocks.
template <class Order>
__device__ void produce(Smem& smem, const CUtensorMap& A, int count_a, const CUtensorMap& B, int count_b,
                        const Order& tiles, int steps) {
  Producer producer(smem.operands);
  for (const int index : tiles) {
    const BatchTile tile = tiles[index];
    const int of_a = min(tile.matrix, count_a - 1), of_b = min(tile.matrix, count_b - 1);
    const int row = tile.row * BM, column = tile.column * BN + tiles.rank() * (BN / PAIR);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const int k = step * BK;
      const u32 slot = producer.acquire();
      if (tiles.rank() == 0) smem.operands.full[slot].expect(PAIR * (sizeof(smem.a[0]) + sizeof(smem.b[0])));
      auto& a = smem.a[slot];
      auto& b = smem.b[slot];
      tma::load_of_pair<PAIR>(a, A, smem.operands.full[slot], {a.column(row, k), a.row(row, k), of_a});
      tma::load_of_pair<PAIR>(b, B, smem.operands.full[slot], {b.column(column, k), b.row(column, k), of_b});
    }
  }
}

// Stores this block's tiles. Called by four warps. Loop invariant: before a tile, all earlier accumulators are released
// and the copies of their last parts to D may be in progress.
template <class Order>
__device__ void store(Smem& smem, const Mapped<O, 3>& D, const Order& tiles, const Dims& dims, const Hooks& hooks,
                      int steps) {
  Consumer accumulators(smem.accumulators);
  for (const int index : tiles) {
    const BatchTile tile = tiles[index];
    store_accumulator<S, Unit<T>::Sum, BN>(smem, accumulators, steps, tma::MatrixOf<O>{D, tile.matrix},
                                           {dims.M, dims.N}, tile.row * BM, tile.column * BN, hooks, tile.matrix);
  }
  if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm_batched(
    const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap AT,
    const __grid_constant__ CUtensorMap B, const __grid_constant__ CUtensorMap BT,
    const __grid_constant__ Mapped<O, 3> D, const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Tiles tiles(dims.BATCH, dims.M, dims.N);
  const int steps = ceil_div<u32>(dims.K, BK);
  const bool even = tiles.rank() == 0;
  if (threadIdx.x == 0) smem.launches.init(kStoreThreads / 32 + (even ? 1 : 0));
  run_block<PAIR, kColumns>(
      smem, even, [&] { store(smem, D, learning(tiles, smem.launches.drawn), dims, hooks, steps); },
      [&] {
        produce(smem, TA ? AT : A, dims.A_BATCH, TB ? BT : B, dims.B_BATCH, cancelling(tiles, smem.launches), steps);
      },
      [&] { multiply_tiles<PAIR, BN>(smem, learning<true>(tiles, smem.launches.drawn), steps); });
}

#endif

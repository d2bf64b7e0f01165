//! kernel  gemm_gated "D[M,N] = epilogue(gate(A * B^T, A * G^T)): products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/gemm_gated.cuh"
//!
//! param   BM      = 128  in {64, 128, 256}         "rows of D per block"
//! param   BN      = 64   in {32, 64}               "columns of D per block, of which a warp makes all"
//! param   STEP    = 64   in {64, 128}              "bytes of each row of A, B and G per step: one swizzle row"
//! param   WM      = 32   in {16, 32, 64}           "rows of D per warp"
//! param   STAGES  = 5    in 2..8                   "tiles of A, B and G in flight"
//! param   GROUP_M = 8    in {1, 4, 8, 16}          "tile rows visited together, for L2 reuse"
//!
//! let     BK        = STEP / sizeof(T)             "columns of A, B and G per step"
//! let     WIDE      = 2 * BN                       "columns of the product"
//! let     WARPS     = BM / WM                      "warps that multiply; a warpgroup more loads"
//! let     THREADS   = 32 * WARPS + 128
//! let     EPI_N     = min(BN, 128 / sizeof(O))     "columns of D stored at a time"
//! let     SMEM      = align_up(STAGES * (BM + WIDE) * STEP + BM * EPI_N * sizeof(O) + 16 * STAGES, 1024)
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count))
//! let     CYCLES    = BM * WIDE * BK * max(2, sizeof(T)) / 1800 + 60 "cycles of one step along K"
//! let     FLOAT8    = sizeof(T) == 1 && !integer(T)
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require WARPS == 4 || WARPS == 8                 "registers are traded between whole warpgroups"
//! require WM * WIDE / 32 + WM / 2 + WIDE / 2 + 40 <= (WARPS == 8 ? 232 : 255) && WM * WIDE <= 4096 "accumulators and fragments must fit in registers"
//! require !FLOAT8 || device.compute_capability >= 120 || WM * WIDE <= 1024 "from sm_90 to below sm_120 mma.sync widens 8-bit floats to 16 bits, for which only warp tiles of 1024 sums leave registers"
//!
//! tensor  A   box [BM, BK]     swizzle STEP  l2 256
//! tensor  G   box [BN, BK]     swizzle STEP  l2 256  early
//! tensor  B   box [BN, BK]     swizzle STEP  l2 256  early
//! tensor  D   box [BM, EPI_N]  swizzle EPI_N * sizeof(O)  view
//!
//! launch  grid ceil_div(TILES, WAVES)  block THREADS  smem SMEM  waits
//! work    flops 4 * M * N * K  bytes (M * K + 2 * N * K) * sizeof(T) + M * N * sizeof(O)  cycles 14000 + max(WAVES * ceil_div(K, BK) * CYCLES, ((M * K + 2 * N * K) * sizeof(T) + M * N * sizeof(O)) / 1500) "as gemm's"
//! reference gemm_gated_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 ? (K <= 1024 ? 6 : K <= 8192 ? 4 : 2) : 0 "an error of one sum is multiplied by the other"
//!
//! preset  BM = 64, BN = 32, WM = 16, STAGES = 8   when ceil_div(M, 128) * ceil_div(N, 64) <= device.sm_count / 2
//! preset  BM = 256, BN = 32, WM = 64, STAGES = 4
//! preset  BM = 128, BN = 64, WM = 32, STAGES = 5
//! preset  BM = 64, BN = 32, WM = 16, STAGES = 8

#include "device/epilogue/store_results.cuh"
#include "device/pipeline/mma_multiplier.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/reference/gemm_gated.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_paired_tile.cuh"

// As gemm_gated_mma_cp_async: one product, of which a warp makes all columns of its rows.

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M>;
using Accumulators = RegisterTile<layout::Mma<WM, WIDE>, Unit<T>::Sum>;

struct Smem {
  OperandTile<false, T, BM, BK> a[STAGES];
  PairedTile<U, BN, BK> b[STAGES];
  SharedTile<O, BM, EPI_N> staged[1];
  Pipeline<STAGES> pipeline;
};
static_assert(sizeof(Smem) <= SMEM);

// Multiplies and stores this block's tiles. Called by all consumer warps. Loop invariant: before a tile, the slots of
// all earlier tiles are released, and only copies of their results to D may be in progress.
__device__ void consume(Smem& smem, const Mapped<O, 2>& D, const Tiles& tiles, const Dims& dims, const Hooks& hooks,
                        int steps) {
  const int row = threadIdx.x / 32 * WM;
  Consumer consumer(smem.pipeline);
  Accumulators acc;
  for (const int index : tiles) {
    mma::multiply_tile<T, WM, WIDE, BK, TERMS, U>(smem, consumer, steps, row, 0, acc);
    const int first = tiles[index].row * BM, column = tiles[index].column * BN;
    tma::store_tile<f32, WARPS, BN>(smem.staged, D, {dims.M, dims.N}, first, column, row, 0,
                                    gated<BN>(hooks)(acc, first + row, column).columns<BN>(0), hooks);
  }
  if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm_gated(
    const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap G, const __grid_constant__ CUtensorMap B,
    const __grid_constant__ Mapped<O, 2> D, const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Tiles tiles(dims.M, dims.N);
  const int steps = ceil_div<u32>(dims.K, BK);
  grid::launch_dependents();
  if (threadIdx.x >= WARPS * 32) {
    const bool first = threadIdx.x == WARPS * 32;
    if (first) smem.pipeline.init(WARPS);
    start_producer(THREADS);
    if constexpr (WARPS == 8) give_registers<40>();
    const tma::PairedMaps both = {G, B};
    if (first) load_operands<BM, BN>(smem.pipeline, smem, A, dims.M, both, dims.N, tiles, steps);
  } else {
    start_consumer(THREADS);
    if constexpr (WARPS == 8) take_registers<232>();
    grid::wait();
    consume(smem, D, tiles, dims, hooks, steps);
  }
}

#endif

//! kernel  gemm_batched "D[i] = epilogue(A[i] * B[i]^T) for each matrix i of a batch: A[M,K], B[N,K], D[M,N], f32 accumulation"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gemm_batched.cuh"
//!
//! param   BM      = 128  in {64, 128, 256}         "rows of D per block"
//! param   BN      = 256  in {64, 128, 256}         "columns of D per block"
//! param   STEP    = 64   in {64, 128}              "bytes of each row of A and B per step: one swizzle row"
//! param   WM      = 64   in {32, 64}               "rows of D per warp"
//! param   WN      = 64   in {32, 64}               "columns of D per warp"
//! param   STAGES  = 3    in 2..8                   "tiles of A and B in flight"
//! param   GROUP_M = 8    in {1, 4, 8, 16}          "tile rows visited together, for L2 reuse"
//!
//! let     BK        = STEP / sizeof(T)             "columns of A and B per step"
//! let     WARPS_N   = BN / WN
//! let     WARPS     = BM / WM * WARPS_N            "warps that multiply; a warpgroup more loads"
//! let     THREADS   = 32 * WARPS + 128
//! let     EPI_N     = 128 / sizeof(O)              "columns of D stored at a time"
//! let     SMEM      = align_up(STAGES * (BM + BN) * STEP + BM * 128 + 16 * STAGES, 1024)
//! let     TILES     = BATCH * ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count))
//! let     FLOAT8    = sizeof(T) == 1 && !integer(T)
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require WARPS == 4 || WARPS == 8                 "registers are traded between whole warpgroups"
//! require WM * WN / 32 + WM / 2 + WN / 2 + 40 <= (WARPS == 8 ? 232 : 255) "accumulators and fragments must fit in registers"
//! require !FLOAT8 || device.compute_capability < 90 || device.compute_capability >= 120 || WM * WN <= 1024 "from sm_90 to below sm_120 mma.sync widens 8-bit floats to 16 bits, for which only warp tiles of 32 by 32 leave registers"
//! require BN % EPI_N == 0                          "a block stores whole epilogue tiles"
//! require TERMS == 1 || WN == 32 && (WM == 32 || STEP == 64) "terms of f32 leave registers for smaller warp tiles"
//! require INVARIANT == 0 || integer(T) || device.compute_capability >= 120 "on sm_90a wgmma, on sm_100a and sm_103a tcgen05 multiplies whatever the number of rows, because their sums have other bits"
//! require TA + TB == 0 || sizeof(T) == 2           "ldmatrix reads only 16-bit types along M or N: give A and B, whose rows lie along K, which the kernel transpose makes"
//!
//! tensor  A   box [1, BM, BK]     swizzle STEP  l2 256
//! tensor  AT  box [1, BK, 64]     swizzle 128  l2 256
//! tensor  B   box [1, BN, BK]     swizzle STEP  l2 256
//! tensor  BT  box [1, BK, 64]     swizzle 128  l2 256
//! tensor  D   box [1, BM, EPI_N]  swizzle 128  view
//!
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES))  block THREADS  smem SMEM
//! work    flops 2 * BATCH * M * N * K  bytes (A_BATCH * M * K + B_BATCH * N * K) * sizeof(T) + BATCH * M * N * sizeof(O)
//! reference gemm_batched_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 ? (K <= 1024 ? 7 : K <= 8192 ? 5 : 3) : 0
//!
//! preset  BM = 64, BN = 64, WM = 32, WN = 32, STAGES = 8   when BATCH * ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  BM = 128, BN = 128, WM = 64, WN = 32, STAGES = 5  when BATCH * ceil_div(M, 128) * ceil_div(N, 256) <= device.sm_count / 2
//! preset  BM = 128, BN = 256, WM = 64, WN = 64, STAGES = 3
//! preset  BM = 64, BN = 128, WM = 32, WN = 32, STAGES = 6
//! preset  TERMS = 3, BM = 64, BN = 128, WM = 32, WN = 32, STAGES = 6

#include "device/epilogue/store_results.cuh"
#include "device/pipeline/mma_multiplier.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/reference/gemm_batched.cuh"
#include "device/schedule/batched.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = BatchTiles<BM, BN, GROUP_M>;
using Accumulators = RegisterTile<layout::Mma<WM, WN>, Unit<T>::Sum>;
using Staged = SharedTile<O, BM, EPI_N>;

struct Smem {
  OperandTile<TA, T, BM, BK> a[STAGES];
  OperandTile<TB, U, BN, BK> b[STAGES];
  Staged staged[1];
  Pipeline<STAGES> pipeline;
};
static_assert(sizeof(Smem) == SMEM);

// Multiplies and stores this block's tiles. Called by all consumer warps. Loop invariant: before a tile, the slots of
// all earlier tiles are released, and only copies of their results to D may be in progress.
__device__ void consume(Smem& smem, const Mapped<O, 3>& D, const Tiles& tiles, const Dims& dims, const Hooks& hooks,
                        int steps) {
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * WM, column = warp % WARPS_N * WN;
  Consumer consumer(smem.pipeline);
  Accumulators acc;
  for (const int index : tiles) {
    mma::multiply_tile<T, WM, WN, BK, TERMS, U>(smem, consumer, steps, row, column, acc);
    const BatchTile tile = tiles[index];
    tma::store_tile<S, WARPS, BN>(smem.staged, tma::MatrixOf<O>{D, tile.matrix}, {dims.M, dims.N}, tile.row * BM,
                                  tile.column * BN, row, column, acc, hooks, tile.matrix);
  }
  if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm_batched(
    const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap AT,
    const __grid_constant__ CUtensorMap B, const __grid_constant__ CUtensorMap BT,
    const __grid_constant__ Mapped<O, 3> D, const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const int steps = ceil_div<u32>(dims.K, BK);
  if (threadIdx.x >= WARPS * 32) {
    const bool first = threadIdx.x == WARPS * 32;
    if (first) smem.pipeline.init(WARPS);
    start_producer(THREADS);
    if constexpr (WARPS == 8) give_registers<40>();
    if (first)
      load_batch_operands(smem.pipeline, smem, TA ? AT : A, dims.A_BATCH, TB ? BT : B, dims.B_BATCH,
                          Tiles(dims.BATCH, dims.M, dims.N), steps);
  } else {
    start_consumer(THREADS);
    if constexpr (WARPS == 8) take_registers<232>();
    consume(smem, D, Tiles(dims.BATCH, dims.M, dims.N), dims, hooks, steps);
  }
}

#endif

//! kernel  gemm_batched "D[i] = epilogue(A[i] * B[i]^T) for each matrix i of a batch: A[M,K], B[N,K], D[M,N], f32 accumulation"
//! arch    sm_90a
//! prefer  1
//! use     "device/reference/gemm_batched.cuh"
//!
//! param   BM      = 128  in {64, 128, 192, 256}    "rows of D per block"
//! param   BN      = 256  in {64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248, 256} "columns of D per block"
//! param   STAGES  = 4    in 2..8                   "tiles of A and B in flight"
//! param   PINGPONG = 0   in {0, 1}                 "0: the consumers share each tile; 1: two make tiles in turn, and one multiplies while the other stores"
//! param   FAST    = 0    in {0, 1} asked           "8-bit floats: 1 leaves whole sums to wgmma, which keeps 14 bits of them; 0 adds every 128 products in f32"
//! param   GROUP_M = 16   in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     SLICES    = PINGPONG ? BM / 64 : BM == 256 ? 2 : 1  "blocks of 64 rows per consumer warpgroup"
//! let     CONSUMERS = PINGPONG ? 2 : BM / (64 * SLICES)
//! let     THREADS   = 128 * (CONSUMERS + 1)
//! let     PROMOTED  = sizeof(T) == 1 && !integer(T) && FAST == 0
//! let     PART      = PROMOTED == 0 ? 0 : BN > 192 ? 64 : BN  "columns whose sums of 128 products are computed while others are added"
//! let     SETS      = BN > 192 || BN <= 128 && CONSUMERS < 3 ? 2 : 1 "sets of registers for PART columns, where there is room"
//! let     SUMS      = PROMOTED ? BN / 2 + SETS * PART / 2 : SLICES * BN / 2  "registers of a thread"
//! let     SWIZZLE   = BN * sizeof(O) % 128 == 0 ? 128 : 0  "of the epilogue's tiles"
//! let     EPI_N     = SWIZZLE == 128 ? 128 / sizeof(O) : BN / (BN & -BN) * max(8, 16 / sizeof(O)) "columns of D stored together: a swizzle row, or a plain row of an odd number of 16 bytes or more, so that stores of 8 rows use all banks"
//! let     EPI_TILES = BN / EPI_N % 2 == 0 ? 2 : 1  "epilogue tiles stored together"
//! let     SMEM      = align_up(STAGES * (BM + BN) * 128 + CONSUMERS * EPI_TILES * align_up(64 * EPI_N * sizeof(O), 128) + 16 * STAGES + 16, 1024)
//! let     TILES     = BATCH * ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count))
//! let     STEP      = max((BM * BN * 33 + (BM + BN) * 185) / 1000, (BM + BN) * 5 / 2) "cycles of one step along K: tensor cores, L2"
//! let     STORE     = BM * BN * 52 / 1000          "cycles of storing a tile"
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require CONSUMERS * (SUMS + (PROMOTED ? 24 : 40)) <= 480 && SUMS <= (CONSUMERS < 3 ? 200 : PROMOTED ? 136 : 100) "accumulators must fit in registers"
//! require FAST == 0 || sizeof(T) == 1 && !integer(T) "only sums of 8-bit floats can be cut short"
//! require PROMOTED == 0 || SLICES == 1 && PINGPONG == 0 "sums of 8-bit floats that are added in f32 leave registers for 64 rows"
//! require PROMOTED == 0 || BN <= 192 || BN == 256  "sums of 8-bit floats that are added in f32 are made in an even number of parts of 64 columns, or in one"
//! require sizeof(O) > 1 || BN % 16 == 0            "TMA stores rows of whole 16 bytes"
//! require !integer(T) || BN % 16 == 0              "wgmma multiplies integers by multiples of 16 columns"
//! require TERMS == 1                               "gemm_batched_mma multiplies f32 by three terms"
//! require TA + TB == 0 || sizeof(T) == 2           "wgmma reads only 16-bit types along M or N: give A and B, whose rows lie along K, which the kernel transpose makes"
//! require TB == 0 || BN % 64 == 0  "a block loads panels of 64 columns of BT"
//!
//! tensor  A   box [1, BM, BK]     swizzle 128  l2 128
//! tensor  AT  box [1, BK, 64]     swizzle 128  l2 128
//! tensor  B   box [1, BN, BK]     swizzle 128  l2 128
//! tensor  BT  box [1, BK, 64]     swizzle 128  l2 128
//! tensor  D   box [1, 64, EPI_N]  swizzle SWIZZLE  view
//!
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES))  block THREADS  smem SMEM
//! work    flops 2 * BATCH * M * N * K  bytes (A_BATCH * M * K + B_BATCH * N * K) * sizeof(T) + BATCH * M * N * sizeof(O)  cycles 10200 + max(WAVES * (1500 + ceil_div(K, BK) * STEP) + STORE * (PINGPONG ? 1 : WAVES), ((A_BATCH * M * K + B_BATCH * N * K) * sizeof(T) + BATCH * M * N * sizeof(O)) / 2230) "as gemm's"
//! reference gemm_batched_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits sizeof(T) > 1 || integer(T) ? 0 : PROMOTED ? 9 : K <= 1024 ? 7 : K <= 8192 ? 5 : 3
//!
//! preset  BM = 128, BN = 256, STAGES = 4
//! preset  BM = 256, BN = 192, STAGES = 3
//! preset  BM = 256, BN = 128, STAGES = 4
//! preset  BM = 192, BN = 200, STAGES = 3
//! preset  BM = 128, BN = 224, STAGES = 4
//! preset  BM = 128, BN = 208, STAGES = 4
//! preset  BM = 128, BN = 176, STAGES = 4, PINGPONG = 1
//! preset  BM = 128, BN = 160, STAGES = 4, PINGPONG = 1
//! preset  BM = 128, BN = 128, STAGES = 6
//! preset  BM = 128, BN = 128, STAGES = 5, PINGPONG = 1
//! preset  BM = 64, BN = 128, STAGES = 8

#include "device/epilogue/store_results.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/pipeline/wgmma_multiplier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/reference/gemm_batched.cuh"
#include "device/schedule/batched.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = BatchTiles<BM, BN, GROUP_M>;
using Accumulators = RegisterTile<layout::Mma<16, BN>, Unit<T>::Sum>;  // for one warp
using Staged = SharedTile<O, 64, EPI_N, SWIZZLE>;
constexpr int REGISTERS = CONSUMERS == 1 ? 240 : CONSUMERS == 2 ? 232 : 152;  // of a consumer's thread
using Store = tma::SliceStore<S, Staged, Hooks, BN, REGISTERS - SUMS - 40>;

struct Smem {
  OperandTile<TA, T, BM, BK> a[STAGES];
  OperandTile<TB, U, BN, BK> b[STAGES];
  Staged staged[CONSUMERS][EPI_TILES];
  Pipeline<STAGES> pipeline;
  Turns turns;
};
static_assert(sizeof(Smem) <= SMEM);

// Multiplies and stores this consumer's tiles. Called by each consumer warpgroup. Only the copies of its previous tile
// to D may be in progress when it stores one.
__device__ void consume(Smem& smem, const Mapped<O, 3>& D, const Tiles& tiles, const Dims& dims, const Hooks& hooks,
                        int steps) {
  struct MatrixStore : Store {
    int matrix;
  };
  multiply_tiles<Accumulators, CONSUMERS, SLICES, PINGPONG, PART, SETS, MatrixStore>(
      smem.pipeline, smem, tiles, steps,
      [&](const BatchTile& tile, int block) -> MatrixStore {
        return {Store(tile.row * BM + block * 64, tile.column * BN), tile.matrix};
      },
      [&](MatrixStore& to, int part) { to.read_first(hooks, part); },
      [&](MatrixStore& to, const Accumulators& sums) {
        const int group = threadIdx.x / kWarpgroup;
        to.write(1 + group, smem.staged[group], tma::MatrixOf<O>{D, to.matrix}, {dims.M, dims.N}, hooks, sums,
                 to.matrix);
      });
  if (threadIdx.x % kWarpgroup == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm_batched(
    const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap AT,
    const __grid_constant__ CUtensorMap B, const __grid_constant__ CUtensorMap BT,
    const __grid_constant__ Mapped<O, 3> D, const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Tiles tiles(dims.BATCH, dims.M, dims.N);
  const int steps = ceil_div<u32>(dims.K, BK);
  if (threadIdx.x >= CONSUMERS * kWarpgroup) {
    const bool first = threadIdx.x == CONSUMERS * kWarpgroup;
    if (first) {
      smem.turns.init();
      smem.pipeline.init(PINGPONG ? 1 : CONSUMERS);
    }
    start_producer(THREADS);
    give_registers<40>();
    if (first)
      load_batch_operands(smem.pipeline, smem, TA ? AT : A, dims.A_BATCH, TB ? BT : B, dims.B_BATCH, tiles, steps);
    __syncwarp();
  } else {
    start_consumer(THREADS);
    take_registers<REGISTERS>();
    consume(smem, D, tiles, dims, hooks, steps);
    __syncwarp();
  }
}

#endif

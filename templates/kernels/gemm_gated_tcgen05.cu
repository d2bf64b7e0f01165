//! kernel  gemm_gated "D[M,N] = epilogue(gate(A * B^T, A * G^T)): products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/gemm_gated.cuh"
//!
//! param   BN      = 128  in {32, 64, 96, 128}      "columns of D per tile, half of the product's"
//! param   STAGES  = 6    in 2..8                   "tiles of A, B and G in flight"
//! param   PAIR    = 2    in {1, 2}                 "blocks that multiply one tile together, 128 rows of D each"
//! param   GROUP_M = 8    in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BM        = 128                          "rows of D per block: the lanes of tensor memory"
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     WIDE      = 2 * BN                       "columns of the product"
//! let     THREADS   = 192                          "four warps store, one loads, one multiplies"
//! let     EPI_N     = BN * sizeof(O) % 128 == 0 ? min(64, 128 / sizeof(O)) : 32 "columns of D stored together, of which a thread has the sums of both products"
//! let     EPI_TILES = BN / EPI_N % 2 == 0 ? 2 : 1  "epilogue tiles stored together"
//! let     SMEM      = align_up(STAGES * (BM + WIDE / PAIR) * 128 + EPI_TILES * BM * EPI_N * sizeof(O) + 16 * STAGES + 48 + 144 * DYNAMIC, 1024)
//! let     TILES     = ceil_div(M, BM * PAIR) * ceil_div(N, BN) "tiles of a pair"
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count / PAIR))
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require !integer(T) || device.compute_capability == 100 "of sm_100a and sm_103a only the first multiplies s8"
//!
//! tensor  A   box [BM, BK]    swizzle 128  l2 256
//! tensor  G   box [BN, BK]    swizzle 128  l2 256  early
//! tensor  B   box [BN, BK]    swizzle 128  l2 256  early
//! tensor  D   box [BM, EPI_N] swizzle EPI_N * sizeof(O)  view
//!
//! workspace state  8 * AMAX  zero                  "LargestState"
//!
//! cluster PAIR
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES)) * PAIR  block THREADS  smem SMEM  waits
//! work    flops 4 * M * N * K  bytes (M * K + 2 * N * K) * sizeof(T) + M * N * sizeof(O)  cycles 18246 + max(4 * M * N * K / (device.sm_count * 8192), WAVES * ceil_div(K, BK) * max(100, 2 * WIDE), ((M * K + 2 * N * K) * sizeof(T) + M * N * sizeof(O)) / 2230) "as gemm's; not measured"
//! reference gemm_gated_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256
//!
//! preset  BN = 32, STAGES = 8, PAIR = 1   when ceil_div(M, 128) * ceil_div(N, 64) <= device.sm_count / 2
//! preset  BN = 64, STAGES = 6, PAIR = 1   when ceil_div(M, 256) * ceil_div(N, 128) <= device.sm_count / 4
//! preset  BN = 128, STAGES = 6, PAIR = 2

#include "device/epilogue/gate.cuh"
#include "device/epilogue/store_tensor_memory.cuh"
#include "device/pipeline/cancelled_tiles.cuh"
#include "device/pipeline/tcgen05_block.cuh"
#include "device/pipeline/tcgen05_multiplier.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/reference/gemm_gated.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_paired_tile.cuh"

// The two products are one, of A with tiles of G and B below each other, of which each block of a pair has one: a
// thread has the sums of both for the same elements of D.

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M, PAIR>;

constexpr int kColumns = tensor_memory::allocation(kAccumulators * WIDE);

template <int Blocks> struct ShareOf { using Tile = PairedTile<U, BN, BK>; };
template <> struct ShareOf<2> { using Tile = OperandTile<false, U, BN, BK>; };

struct Smem {
  using Staged = SharedTile<O, BM, EPI_N>;
  OperandTile<false, T, BM, BK> a[STAGES];
  ShareOf<PAIR>::Tile b[STAGES];
  Staged staged[EPI_TILES];
  Pipeline<STAGES> operands;
  Pipeline<kAccumulators, PAIR> accumulators;  // filled by the multiplying thread, drained by the storing warps
  CancelledLaunches<DYNAMIC, PAIR> launches;
  u32 address;  // of the accumulators, in tensor memory
};
static_assert(sizeof(Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm_gated(const __grid_constant__ CUtensorMap A,
                                                                    const __grid_constant__ CUtensorMap G,
                                                                    const __grid_constant__ CUtensorMap B,
                                                                    const __grid_constant__ Mapped<O, 2> D,
                                                                    View<f32, 1> LARGEST, u8* state, const Dims dims,
                                                                    const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Tiles tiles(dims.M, dims.N);
  const int steps = ceil_div<u32>(dims.K, BK);
  const bool even = tiles.rank() == 0;
  grid::launch_dependents();
  if (threadIdx.x == 0) smem.launches.init(kStoreThreads / 32 + (even ? 1 : 0));
  run_block<PAIR, kColumns>(
      smem, even,
      [&] {
        const auto& to = compared<AMAX>(D, state);
        const int count = store_tiles_made_of<f32, Unit<T>::Sum, WIDE, BN>(
            smem, Consumer(smem.accumulators), to, {dims.M, dims.N}, learning(tiles, smem.launches.drawn), steps, hooks,
            gated<BN>(hooks));
        finish_compare(to, LARGEST, count, *tiles.end() * PAIR * (kStoreThreads / 32));
      },
      [&] {
        load_shares<PAIR>(smem, A, tma::PairedMaps{G, B}, cancelling(tiles, smem.launches), steps);
      },
      [&] { multiply_tiles<PAIR, WIDE>(smem, learning<true>(tiles, smem.launches.drawn), steps); });
}

#endif

//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T) of f32 at the accuracy of f32, by three products of tf32 for each"
//! arch    sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/gemm.cuh"
//!
//! param   BN      = 256  in {32, 64, 96, 128, 160, 192, 224, 256} "columns of D per tile"
//! param   STAGES  = 3    in 2..6                   "tiles of A and B in flight"
//! param   PAIR    = 2    in {1, 2}                 "blocks that multiply one tile together, 128 rows of D each"
//! param   GROUP_M = 8    in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BM        = 128                          "rows of D per block: the lanes of tensor memory"
//! let     BK        = 32                           "one 128-byte swizzle row"
//! let     THREADS   = 320                          "four warps store, one loads, one multiplies, four split"
//! let     EPI_N     = BN * sizeof(O) % 128 == 0 ? 128 / sizeof(O) : 32 "columns of D stored together: a swizzle row"
//! let     EPI_TILES = BN / EPI_N % 2 == 0 ? 2 : 1  "epilogue tiles stored together"
//! let     SMEM      = align_up(2 * STAGES * (BM + BN / PAIR) * 128 + EPI_TILES * BM * EPI_N * sizeof(O) + 24 * STAGES + 48 + 144 * DYNAMIC, 1024)
//! let     TILES     = ceil_div(M, BM * PAIR) * ceil_div(N, BN) "tiles of a pair"
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count / PAIR))
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require TERMS == 3 && sizeof(T) == 4             "this file multiplies f32 of three tf32 products (TERMS = 3)"
//! require TA + TB == 0                             "this kernel reads f32 along K only: give A and B, whose rows lie along K, which the kernel transpose makes"
//! require BN / PAIR % 8 == 0                       "each block of a pair loads whole swizzle atoms of B"
//!
//! tensor  A   box [BM, BK]         swizzle 128  l2 256
//! tensor  B   box [BN / PAIR, BK]  swizzle 128  l2 256  early
//! tensor  D   box [BM, EPI_N]      swizzle EPI_N * sizeof(O)  view
//!
//! workspace state    8 * AMAX     zero             "LargestState"
//!
//! cluster PAIR
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES)) * PAIR  block THREADS  smem SMEM  waits
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)  cycles 18246 + max(2 * M * N * K / (device.sm_count * 683), WAVES * ceil_div(K, BK) * max(200, 6 * BN), ((M * K + N * K) * sizeof(T) + M * N * sizeof(O)) / 2230) "at least, for every configuration; not measured: the fixed part is above that of gemm_few_rows.cu"
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256
//!
//! preset  TERMS = 3, BN = 64, STAGES = 4, PAIR = 1   when ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  TERMS = 3, BN = 128, STAGES = 3, PAIR = 1  when ceil_div(M, 256) * ceil_div(N, 256) <= device.sm_count / 4
//! preset  TERMS = 3, BN = 256, STAGES = 3, PAIR = 2

#include "device/epilogue/store_tensor_memory.cuh"
#include "device/pipeline/cancelled_tiles.cuh"
#include "device/pipeline/split_terms.cuh"
#include "device/pipeline/tcgen05_block.cuh"
#include "device/pipeline/tcgen05_multiplier.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/reference/gemm.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/shared_memory.cuh"

// The problem: the units read an f32 as tf32, with 11 of its 24 bits. The idea: each operand is the sum of two tf32,
// and of their four products three are computed, the small ones first. Four warps split each tile that has arrived
// while earlier ones are multiplied. The cost: three times the products, and twice the shared memory.

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M, PAIR>;

constexpr int kSplitWarp = kMultiplyWarp + 1, kSplitThreads = 128;
constexpr int kColumns = tensor_memory::allocation(kAccumulators * BN);

struct Smem {
  using Staged = SharedTile<O, BM, EPI_N>;
  OperandTile<0, T, BM, BK> a[STAGES], a_low[STAGES];  // a becomes the high terms
  OperandTile<0, T, BN / PAIR, BK> b[STAGES], b_low[STAGES];
  Staged staged[EPI_TILES];
  Pipeline<STAGES> operands;
  Barrier split[STAGES];  // of the even block: completed when a slot's operands have been split in both blocks
  Pipeline<kAccumulators, PAIR> accumulators;  // filled by the multiplying thread, drained by the storing warps
  CancelledLaunches<DYNAMIC, PAIR> launches;
  u32 address;  // of the accumulators, in tensor memory
};
static_assert(sizeof(Smem) <= SMEM);

// Loads this block's tiles of A and B as load_steps does. A slot is free once the products that read it are complete in
// both blocks of a pair.
template <class Order>
__device__ void produce(Smem& smem, const CUtensorMap& A, const CUtensorMap& B, const Order& tiles, int steps) {
  Producer producer(smem.operands);
  load_steps(
      tiles, steps, [&] { return producer.acquire(sizeof(smem.a[0]) + sizeof(smem.b[0])); },
      [&](u32 slot, Tile tile, int step) {
        tma::load(smem.a[slot], A, smem.operands.full[slot], step * BK, tile.row * BM);
      },
      [&](u32 slot, Tile tile, int step) {
        tma::load(smem.b[slot], B, smem.operands.full[slot], step * BK, tile.column * BN + tiles.rank() * (BN / PAIR));
      });
}

// Splits this block's operands of each step. Called by four warps. Loop invariant: all earlier steps' slots have been
// split.
template <class Order> __device__ void split(Smem& smem, const Order& tiles, int steps) {
  Consumer arrived(smem.operands);
  const int thread = threadIdx.x - kSplitWarp * 32;
  for ([[maybe_unused]] const int index : tiles) {
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const u32 slot = arrived.wait();
      split_tile<kSplitThreads>(smem.a[slot], smem.a_low[slot], thread);
      split_tile<kSplitThreads>(smem.b[slot], smem.b_low[slot], thread);
      publish_terms<PAIR>(smem.split[slot]);
    }
  }
}

// Multiplies. Called by one thread of the even block.
template <class Order> __device__ void multiply(Smem& smem, const Order& tiles, int steps) {
  Ring<STAGES> ring;
  multiply_tiles<PAIR, BN>(
      smem, tiles, steps,
      [&] {
        const u32 slot = ring.slot;
        smem.split[slot].wait_cluster(ring.phase);
        ring.advance();
        return slot;
      },
      [&](u32 d, u32 slot, bool accumulate) {
        tcgen05::multiply<PAIR>(d, smem.a_low[slot], smem.b[slot], accumulate);
        tcgen05::multiply<PAIR>(d, smem.a[slot], smem.b_low[slot], true);
        tcgen05::multiply<PAIR>(d, smem.a[slot], smem.b[slot], true);
      });
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm(const __grid_constant__ CUtensorMap A, View<const T, 2>,
                                                              const __grid_constant__ CUtensorMap B, View<const T, 2>,
                                                              const __grid_constant__ Mapped<O, 2> D,
                                                              View<f32, 1> LARGEST, u8* state, const Dims dims,
                                                              const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Tiles tiles(dims.M, dims.N);
  const int steps = ceil_div<u32>(dims.K, BK);
  const bool even = tiles.rank() == 0;
  grid::launch_dependents();
  if (threadIdx.x == 0) {
    smem.launches.init((kStoreThreads + kSplitThreads) / 32 + (even ? 1 : 0));
    for (Barrier& barrier : smem.split) barrier.init(PAIR * kSplitThreads / 32);
  }
  run_block<PAIR, kColumns>(
      smem, even,
      [&] {
        const auto& to = compared<AMAX>(D, state);
        const int count = store_tiles<S, Unit<T>::Sum, BN>(smem, Consumer(smem.accumulators), to, {dims.M, dims.N},
                                                           learning(tiles, smem.launches.drawn), steps, hooks);
        finish_compare(to, LARGEST, count, *tiles.end() * PAIR * (kStoreThreads / 32));
      },
      [&] { produce(smem, A, B, cancelling(tiles, smem.launches), steps); },
      [&] { multiply(smem, learning<true>(tiles, smem.launches.drawn), steps); },
      [&] { split(smem, learning(tiles, smem.launches.drawn), steps); });
}

#endif

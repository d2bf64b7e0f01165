//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T) of f32 at the accuracy of f32, by three products of tf32 for each"
//! arch    sm_90a
//! prefer  2
//! use     "device/reference/gemm.cuh"
//!
//! param   BM      = 128  in {64, 128}              "rows of D per block: 64 for each consumer"
//! param   BN      = 128  in {32, 64, 96, 128, 160} "columns of D per block"
//! param   STAGES  = 4    in 2..8                   "tiles of A and B in flight"
//! param   GROUP_M = 16   in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BK        = 32                           "one 128-byte swizzle row"
//! let     CONSUMERS = BM / 64
//! let     SPLITTERS = 96                           "threads that split B: a warp of their warpgroup loads"
//! let     THREADS   = 128 * (CONSUMERS + 1)
//! let     EPI_N     = 128 / sizeof(O)              "columns of D stored together: a swizzle row"
//! let     EPI_TILES = BN / EPI_N % 2 == 0 ? 2 : 1  "epilogue tiles stored together"
//! let     SMEM      = align_up(STAGES * (BM + 2 * BN) * 128 + CONSUMERS * EPI_TILES * 8192 + 24 * STAGES + 8 + 80 * DYNAMIC, 1024)
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count))
//! let     STEP      = max(700, max(6 * BN * CONSUMERS, BN * (3 * CONSUMERS + 4) + 2 * BM) * 11 / 10) "cycles of one step along K: latency, tensor cores, shared memory"
//!
//! require TERMS == 3 && sizeof(T) == 4             "this file multiplies f32 of three tf32 products (TERMS = 3)"
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require BN % EPI_N == 0                          "a block stores whole epilogue tiles"
//! require TA + TB == 0                             "wgmma reads only 16-bit types along M or N: give A and B, whose rows lie along K, which the kernel transpose makes"
//!
//! tensor  A   box [BM, BK]     swizzle 128  l2 128
//! tensor  B   box [BN, BK]     swizzle 128  l2 128  early
//! tensor  D   box [64, EPI_N]  swizzle 128  view
//!
//! workspace state    8 * AMAX     zero             "LargestState"
//! workspace tickets  4 * DYNAMIC  zero             "tiles that have been drawn"
//!
//! launch  grid ceil_div(TILES, WAVES)  block THREADS  smem SMEM  waits
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)  cycles 10052 + max(WAVES * (1000 + ceil_div(K, BK) * STEP + BM * BN / 10), ((M * K + N * K) * sizeof(T) + M * N * sizeof(O)) / 1809) "by the rate of wgmma and the bandwidth of an H200"
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256
//!
//! preset  TERMS = 3, BM = 128, BN = 160, STAGES = 3
//! preset  TERMS = 3, BM = 128, BN = 128, STAGES = 4
//! preset  TERMS = 3, BM = 128, BN = 64, STAGES = 6
//! preset  TERMS = 3, BM = 64, BN = 128, STAGES = 5
//! preset  TERMS = 3, BM = 64, BN = 64, STAGES = 8

#include "device/epilogue/store_results.cuh"
#include "device/pipeline/drawn_tiles.cuh"
#include "device/pipeline/split_terms.cuh"
#include "device/pipeline/tma_operands.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/reference/gemm.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_terms.cuh"

// The problem: the units read an f32 as tf32, with 11 of its 24 bits. The idea: each operand is the sum of two tf32,
// and of their four products three are computed. B is in shared memory, where three warps split each tile that has
// arrived while the consumers multiply earlier ones; A is split in the registers from which wgmma takes it. wgmma cuts
// its sums off, which adds up along K: each step has sums of its own, which are added in f32. While one consumer adds,
// the other multiplies. The cost: three times the products, and a second tile of B in each slot.

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M>;
using Accumulators = RegisterTile<layout::Mma<16, BN>>;  // for one warp
using Staged = SharedTile<O, 64, EPI_N>;
constexpr int REGISTERS = CONSUMERS == 1 ? 240 : 232;  // of a consumer's thread
using Store = tma::SliceStore<S, Staged, Hooks, BN, REGISTERS - BN / 2 - 40>;

struct Smem {
  OperandTile<0, T, BM, BK> a[STAGES];
  OperandTile<0, T, BN, BK> b[STAGES], low[STAGES];  // b becomes the high terms
  Staged staged[CONSUMERS][EPI_TILES];
  Pipeline<STAGES> pipeline;
  Barrier split[STAGES];  // completed when a slot's B has been split
  DrawnNumbers<DYNAMIC> drawn;
};
static_assert(sizeof(Smem) <= SMEM);

// Splits B of each step. Called by the splitters. Loop invariant: all earlier steps' slots have been split.
template <class Order> __device__ void split(Smem& smem, const Order& tiles, int steps) {
  Consumer arrived(smem.pipeline);
  for ([[maybe_unused]] const int index : tiles) {
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const u32 slot = arrived.wait();
      split_tile<SPLITTERS>(smem.b[slot], smem.low[slot], threadIdx.x % kWarpgroup - 32);
      publish_terms(smem.split[slot]);
    }
  }
}

// Multiplies and stores this consumer's 64 rows of each tile. Loop invariant: before a step the products of all earlier
// steps are complete, added to `sums`, and their slots released by this warp.
template <class To, class Order>
__device__ void consume(Smem& smem, const To& D, const Order& tiles, const Dims& dims, const Hooks& hooks, int steps) {
  const int group = threadIdx.x / kWarpgroup, row = group * 64 + threadIdx.x % kWarpgroup / 32 * 16;
  Ring<STAGES> ring;
  for (const int index : tiles) {
    const Tile tile = tiles[index];
    Accumulators sums = {};
#pragma unroll 1
    for (int step = 0; step < steps; ++step, ring.advance()) {
      const u32 slot = ring.slot;
      smem.split[slot].wait(ring.phase);
      wgmma::Terms<BK> a;
      a.load(smem.a[slot], row);
      Accumulators part;
      wgmma::multiply(part, a, smem.b[slot], smem.low[slot]);
      wgmma::wait<0>();
      smem.pipeline.release_warp(slot);
      sums.add(part);
    }
    Store store(tile.row * BM + group * 64, tile.column * BN);
#pragma unroll
    for (int n = 0; n < Store::kAhead; ++n) store.read_first(hooks, n);
    store.write(1 + group, smem.staged[group], D, {dims.M, dims.N}, hooks, sums);
  }
  if (threadIdx.x % kWarpgroup == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm(const __grid_constant__ CUtensorMap A, View<const T, 2>,
                                                              const __grid_constant__ CUtensorMap B, View<const T, 2>,
                                                              const __grid_constant__ Mapped<O, 2> D,
                                                              View<f32, 1> LARGEST, u8* state, u8* tickets,
                                                              const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Tiles tiles(dims.M, dims.N);
  const int steps = ceil_div<u32>(dims.K, BK), warp = threadIdx.x / 32;
  grid::launch_dependents();
  if (threadIdx.x >= CONSUMERS * kWarpgroup) {
    if (threadIdx.x == CONSUMERS * kWarpgroup) {
      for (Barrier& barrier : smem.split) barrier.init(SPLITTERS / 32);
      smem.drawn.init(4 * CONSUMERS + SPLITTERS / 32);
      smem.pipeline.init(4 * CONSUMERS);
    }
    const bool loads = warp == 4 * CONSUMERS;
    if (loads)
      start_producer(THREADS);
    else
      start_consumer(THREADS);
    give_registers<40>();
    if (!loads)
      split(smem, learning(tiles, smem.drawn), steps);
    else if (threadIdx.x % 32 == 0)
      load_operands<BM, BN>(smem.pipeline, smem, A, dims.M, B, dims.N, drawing(tiles, smem.drawn, tickets), steps);
    __syncwarp();
  } else {
    start_consumer(THREADS);
    take_registers<REGISTERS>();
    grid::wait();
    const auto& to = compared<AMAX>(D, state);
    consume(smem, to, learning(tiles, smem.drawn), dims, hooks, steps);
    finish_compare(to, LARGEST, 1, gridDim.x * CONSUMERS * 4);
    __syncwarp();
  }
}

#endif

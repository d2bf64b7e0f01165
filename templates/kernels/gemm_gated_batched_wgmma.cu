//! kernel  gemm_gated_batched "D[i] = epilogue(gate(A[i] * B[i]^T, A[i] * G[i]^T)) for each matrix i of a batch: products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_90a
//! prefer  1
//! use     "device/reference/gated_patches.cuh"
//! use     "device/reference/gemm_gated_batched.cuh"
//! use     "device/pipeline/gated_wgmma.cuh"
//!
//! tensor  A   box [1, BM, BK]     swizzle 128  l2 128
//! tensor  G   box [1, SHARE, BK]  swizzle 128  l2 128  early
//! tensor  B   box [1, SHARE, BK]  swizzle 128  l2 128  early
//! tensor  D   box [1, 64, EPI_N]  swizzle SWIZZLE  view
//!
//! workspace tickets  4 * DYNAMIC  zero             "tiles that have been drawn"
//!
//! reference gemm_gated_batched_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits sizeof(T) > 1 || integer(T) ? 0 : PROMOTED ? 7 : K <= 1024 ? 6 : K <= 8192 ? 4 : 2 "an error of one sum is multiplied by the other"

#include "device/epilogue/gate.cuh"
#include "device/epilogue/store_results.cuh"
#include "device/reference/gemm_gated_batched.cuh"
#include "device/schedule/batched.cuh"

#include "device/pipeline/gated_wgmma.cuh"

#ifndef TMA_JIT_REFERENCE

// Stores what the hooks make of 64 rows of sums into the tile's matrix.
template <class To>
__device__ void store_in(Smem& smem, Store& store, const To& D, const BatchTile& tile, const Dims& dims,
                         const Hooks& hooks, const Accumulators& sums) {
  store_sums(smem, store, tma::MatrixOf<O>{D, tile.matrix}, dims, hooks, sums, tile.matrix);
}

using Tiles = BatchTiles<BM, BN, GROUP_M, CLUSTER>;

// Loads the tiles of this block. Called by one thread.
template <class Order>
__device__ void produce(Smem& smem, const CUtensorMap& A, const CUtensorMap& G, const CUtensorMap& B, const Dims& dims,
                        const Order& tiles, int steps) {
  Producer producer(smem.pipeline);
  load_steps(
      tiles, steps, [&] { return producer.acquire(sizeof(smem.a[0]) + sizeof(smem.b[0])); },
      [&](u32 slot, const BatchTile& tile, int step) {
        tma::load(smem.a[slot], A, smem.pipeline.full[slot],
                  {step * BK, tile.row * BM, min(tile.matrix, dims.A_BATCH - 1)});
      },
      [&](u32 slot, const BatchTile& tile, int step) {
        auto& b = smem.b[slot];
        const int at[] = {step * BK, tile.column * BN, min(tile.matrix, dims.B_BATCH - 1)};
        tma::load_shares<CLUSTER>(b.half(0), G, smem.pipeline.full[slot], tiles.rank(), at);
        tma::load_shares<CLUSTER>(b.half(1), B, smem.pipeline.full[slot], tiles.rank(), at);
      });
  if constexpr (CLUSTER > 1) producer.drain();
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm_gated_batched(
    const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap G, const __grid_constant__ CUtensorMap B,
    const __grid_constant__ Mapped<O, 3> D, u8* tickets, const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const int steps = ceil_div<u32>(dims.K, BK);
  const Tiles tiles(dims.BATCH, dims.M, dims.N);
  grid::launch_dependents();
  if (threadIdx.x < CONSUMERS * kWarpgroup) {
    start_consumer<CLUSTER>(THREADS);
    take_registers<REGISTERS>();
    grid::wait();
    consume(smem, D, learning(tiles, smem.drawn), dims, hooks, steps);
  } else {  // ptxas places this first, so that its instructions are there early
    const bool first = threadIdx.x == CONSUMERS * kWarpgroup;
    if (first) {
      smem.turns.init();
      smem.drawn.init(4 * CONSUMERS);
      smem.pipeline.init(PINGPONG ? 1 : CONSUMERS);
    }
    start_producer<CLUSTER>(THREADS);
    give_registers<40>();
    if (first) produce(smem, A, G, B, dims, drawing(tiles, smem.drawn, tickets), steps);
  }
  __syncwarp();
}

#endif

//! kernel  gemm_gated "D[M,N] = epilogue(gate(A * B^T, A * G^T)): products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_90a
//! prefer  2
//! use     "device/reference/gated_patches.cuh"
//! use     "device/reference/gemm_gated.cuh"
//! use     "device/pipeline/gated_wgmma.cuh"
//!
//! let     BOX_M     = BM % 64 == 0 ? 64 : BM       "rows that one copy loads"
//! let     BOX_N     = SHARE % 64 == 0 ? 64 : SHARE
//!
//! tensor  A   box [BOX_M, BK]         swizzle 128  l2 128
//! tensor  G   box [BOX_N, BK]         swizzle 128  l2 128  early
//! tensor  B   box [BOX_N, BK]         swizzle 128  l2 128  early
//! tensor  D   box [64, EPI_N]         swizzle SWIZZLE  view
//!
//! workspace state    8 * AMAX     zero             "LargestState"
//! workspace tickets  4 * DYNAMIC  zero             "tiles that have been drawn"
//!
//! reference gemm_gated_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits sizeof(T) > 1 || integer(T) ? 0 : PROMOTED ? 7 : K <= 1024 ? 6 : K <= 8192 ? 4 : 2 "an error of one sum is multiplied by the other"

#include "device/epilogue/gate.cuh"
#include "device/epilogue/store_results.cuh"
#include "device/reference/gemm_gated.cuh"
#include "device/schedule/persistent.cuh"

#include "device/pipeline/gated_wgmma.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M, CLUSTER>;

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm_gated(
    const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap G, const __grid_constant__ CUtensorMap B,
    const __grid_constant__ Mapped<O, 2> D, View<f32, 1> LARGEST, u8* state, u8* tickets, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const int steps = ceil_div<u32>(dims.K, BK);
  const Tiles tiles(dims.M, dims.N);
  grid::launch_dependents();
  if (threadIdx.x < CONSUMERS * kWarpgroup) {
    start_consumer<CLUSTER>(THREADS);
    take_registers<REGISTERS>();
    grid::wait();
    const auto& to = compared<AMAX>(D, state);
    consume(smem, to, learning(tiles, smem.drawn), dims, hooks, steps);
    finish_compare(to, LARGEST, 1, gridDim.x * CONSUMERS * 4);
  } else {  // ptxas places this first, so that its instructions are there early
    const bool first = threadIdx.x == CONSUMERS * kWarpgroup;
    const tma::PairedMaps both = {G, B};
    const OperandLoads<BOX_M, BOX_N, 1, false, Smem, STAGES, CLUSTER, tma::PairedMaps> loads(smem.pipeline, smem, A,
                                                                                             dims.M, both, dims.N);
    const bool begins = !DYNAMIC && steps > 0;  // a tile that is to be drawn is not known yet
    if (first) {
      smem.pipeline.init_first();
      if (begins) loads.begin(tiles[*tiles.begin()], 0);
      smem.turns.init();
      smem.drawn.init(4 * CONSUMERS);
      smem.pipeline.init_others(PINGPONG ? 1 : CONSUMERS);
    }
    start_producer<CLUSTER>(THREADS);
    give_registers<40>();
    if (first) loads.load(drawing(tiles, smem.drawn, tickets), steps, begins);
  }
  __syncwarp();
}

#endif

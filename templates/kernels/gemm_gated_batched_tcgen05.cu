//! kernel  gemm_gated_batched "D[i] = epilogue(gate(A[i] * B[i]^T, A[i] * G[i]^T)) for each matrix i of a batch: products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_100a, sm_103a
//! prefer  1
//! use     "device/reference/gated_patches.cuh"
//! use     "device/reference/gemm_gated_batched.cuh"
//! use     "device/pipeline/gated_tcgen05.cuh"
//!
//! tensor  A   box [1, BM, BK]    swizzle 128  l2 256
//! tensor  G   box [1, BN, BK]    swizzle 128  l2 256  early
//! tensor  B   box [1, BN, BK]    swizzle 128  l2 256  early
//! tensor  D   box [1, BM, EPI_N] swizzle EPI_N * sizeof(O)  view
//!
//! reference gemm_gated_batched_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256

#include "device/epilogue/gate.cuh"
#include "device/epilogue/store_tensor_memory.cuh"
#include "device/reference/gemm_gated_batched.cuh"
#include "device/schedule/batched.cuh"

#include "device/pipeline/gated_tcgen05.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = BatchTiles<BM, BN, GROUP_M, PAIR>;

// Loads the tiles of this block, as load_shares does those of one product. Called by one thread.
template <class Order>
__device__ void produce(Smem& smem, const CUtensorMap& A, const tma::PairedMaps& both, const Dims& dims,
                        const Order& tiles, int steps) {
  Producer producer(smem.operands);
  load_steps(
      tiles, steps,
      [&] {
        const u32 slot = producer.acquire();
        if (tiles.rank() == 0) smem.operands.full[slot].expect(PAIR * (sizeof(smem.a[0]) + sizeof(smem.b[0])));
        return slot;
      },
      [&](u32 slot, const BatchTile& tile, int step) {
        tma::load_of_pair<PAIR>(smem.a[slot], A, smem.operands.full[slot],
                                {step * BK, tile.row * BM, min(tile.matrix, dims.A_BATCH - 1)});
      },
      [&](u32 slot, const BatchTile& tile, int step) {
        tma::load_share<PAIR>(smem.b[slot], both, smem.operands.full[slot], tiles.rank(),
                              {step * BK, tile.column * BN, min(tile.matrix, dims.B_BATCH - 1)});
      });
}

// Stores this block's tiles, after the kernel before this one. Called by four warps. Loop invariant: before a tile, all
// earlier accumulators are released and the copies of their last parts to D may be in progress.
template <class Order>
__device__ void store(Smem& smem, const Mapped<O, 3>& D, const Order& tiles, const Dims& dims, const Hooks& hooks,
                      int steps) {
  Consumer accumulators(smem.accumulators);
  grid::wait();
  for (const int index : tiles) {
    const BatchTile tile = tiles[index];
    store_made_of<f32, Unit<T>::Sum, WIDE, BN>(smem, accumulators, steps, tma::MatrixOf<O>{D, tile.matrix},
                                               {dims.M, dims.N}, tile.row * BM, tile.column * BN, hooks,
                                               gated<BN>(hooks, tile.matrix), tile.matrix);
  }
  if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm_gated_batched(
    const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap G, const __grid_constant__ CUtensorMap B,
    const __grid_constant__ Mapped<O, 3> D, const Dims dims, const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Tiles tiles(dims.BATCH, dims.M, dims.N);
  const int steps = ceil_div<u32>(dims.K, BK);
  const bool even = tiles.rank() == 0;
  grid::launch_dependents();
  if (threadIdx.x == 0) smem.launches.init(kStoreThreads / 32 + (even ? 1 : 0));
  run_block<PAIR, kColumns>(
      smem, even, [&] { store(smem, D, learning(tiles, smem.launches.drawn), dims, hooks, steps); },
      [&] {
        produce(smem, A, tma::PairedMaps{G, B}, dims, cancelling(tiles, smem.launches), steps);
      },
      [&] { multiply_tiles<PAIR, WIDE>(smem, learning<true>(tiles, smem.launches.drawn), steps); });
}

#endif

//! kernel  gemm_gated "D[M,N] = epilogue(gate(A * B^T, A * G^T)): products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/gated_patches.cuh"
//! use     "device/reference/gemm_gated.cuh"
//! use     "device/pipeline/gated_tcgen05.cuh"
//!
//! tensor  A   box [BM, BK]    swizzle 128  l2 256
//! tensor  G   box [BN, BK]    swizzle 128  l2 256  early
//! tensor  B   box [BN, BK]    swizzle 128  l2 256  early
//! tensor  D   box [BM, EPI_N] swizzle EPI_N * sizeof(O)  view
//!
//! workspace state  8 * AMAX  zero                  "LargestState"
//!
//! reference gemm_gated_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256

#include "device/epilogue/gate.cuh"
#include "device/epilogue/store_tensor_memory.cuh"
#include "device/reference/gemm_gated.cuh"
#include "device/schedule/persistent.cuh"

#include "device/pipeline/gated_tcgen05.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M, PAIR>;

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

//! kernel  gemm_gated "D[M,N] = epilogue(gate(A * B^T, A * G^T)): products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gated_patches.cuh"
//! use     "device/reference/gemm_gated.cuh"
//! use     "device/pipeline/gated_mma_cp_async.cuh"
//!
//! require VEC == sizeof(T) || stride(A, 0) * sizeof(T) % VEC == 0 && stride(B, 0) * sizeof(T) % VEC == 0 && stride(G, 0) * sizeof(T) % VEC == 0 "rows of A, B and G must begin at multiples of the access"
//! require VEC == sizeof(T) || stride(A, 1) == 1 && stride(B, 1) == 1 && stride(G, 1) == 1 "elements that move together must be neighbours"
//!
//! workspace state  8 * AMAX  zero                  "LargestState"
//!
//! reference gemm_gated_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 ? (K <= 1024 ? 6 : K <= 8192 ? 4 : 2) : 0 "an error of one sum is multiplied by the other"

#include "device/epilogue/gate.cuh"
#include "device/epilogue/store_warp.cuh"
#include "device/reference/gemm_gated.cuh"
#include "device/schedule/persistent.cuh"

#include "device/pipeline/gated_mma_cp_async.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M>;

struct Problem {
  View<const T, 2> a;
  View<const U, 2> g, b;
  Extent extent;
  int k;
  Tiles tiles;

  template <class CopyA, class CopyB> __device__ void start(const Tile& tile, CopyA& copy_a, CopyB& copy_b) const {
    copy_a.start(a, tile.row * BM, extent.rows, k);
    copy_b.start(g, b, tile.column * BN, extent.columns, k);
  }
};

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void gemm_gated(View<const T, 2> A, View<const U, 2> G,
                                                                         View<const U, 2> B, View<O, 2> D,
                                                                         View<f32, 1> LARGEST, u8* state,
                                                                         const Dims dims,
                                                                         const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Problem p = {A, G, B, {dims.M, dims.N}, dims.K, Tiles(dims.M, dims.N)};
  const int warp = threadIdx.x / 32, row = warp * WM;

  mma::clear_unfilled<STAGES, THREADS>(smem, p.k);
  const auto& to = compared<AMAX>(D, state);
  mma::multiply_copied<T, U, WM, WIDE, TERMS, STAGES, THREADS, VEC>(
      smem, p, row, 0, [&](const Tile& tile, const Accumulators& acc) {
        const int first = tile.row * BM + row, column = tile.column * BN;
        store_warp<f32>(smem.staged[warp], to, p.extent, first, column,
                        gated<BN>(hooks)(acc, first, column).columns<BN>(0), hooks);
      });
  finish_compare(to, LARGEST, 1, gridDim.x * WARPS);
}

#endif

//! kernel  gemm_gated_batched "D[i] = epilogue(gate(A[i] * B[i]^T, A[i] * G[i]^T)) for each matrix i of a batch: products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gated_patches.cuh"
//! use     "device/reference/gemm_gated_batched.cuh"
//! use     "device/pipeline/gated_mma_cp_async.cuh"
//!
//! require VEC == sizeof(T) || stride(A, 0) * sizeof(T) % VEC == 0 && stride(B, 0) * sizeof(T) % VEC == 0 && stride(G, 0) * sizeof(T) % VEC == 0 "matrices of A, B and G must begin at multiples of the access"
//! require VEC == sizeof(T) || stride(A, 1) * sizeof(T) % VEC == 0 && stride(B, 1) * sizeof(T) % VEC == 0 && stride(G, 1) * sizeof(T) % VEC == 0 "rows of A, B and G must begin at multiples of the access"
//! require VEC == sizeof(T) || stride(A, 2) == 1 && stride(B, 2) == 1 && stride(G, 2) == 1 "elements that move together must be neighbours"
//!
//! require BM * BN <= 4096                          "larger tiles of a batch spill registers"
//!
//! reference gemm_gated_batched_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 ? (K <= 1024 ? 6 : K <= 8192 ? 4 : 2) : 0 "an error of one sum is multiplied by the other"

#include "device/epilogue/gate.cuh"
#include "device/epilogue/store_warp.cuh"
#include "device/reference/gemm_gated_batched.cuh"
#include "device/schedule/batched.cuh"
#include "device/tile/matrix_of.cuh"

#include "device/pipeline/gated_mma_cp_async.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = BatchTiles<BM, BN, GROUP_M>;

struct Problem {
  View<const T, 3> a;
  View<const U, 3> g, b;
  int count_a, count_b;
  Extent extent;
  int k;
  Tiles tiles;

  template <class CopyA, class CopyB> __device__ void start(const BatchTile& tile, CopyA& copy_a, CopyB& copy_b) const {
    copy_a.start(matrix_of(a, count_a, tile.matrix), tile.row * BM, extent.rows, k);
    copy_b.start(matrix_of(g, count_b, tile.matrix), matrix_of(b, count_b, tile.matrix), tile.column * BN,
                 extent.columns, k);
  }
};

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void gemm_gated_batched(View<const T, 3> A, View<const U, 3> G,
                                                                                 View<const U, 3> B, View<O, 3> D,
                                                                                 const Dims dims,
                                                                                 const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Problem p = {A, G, B, dims.A_BATCH, dims.B_BATCH, {dims.M, dims.N}, dims.K, Tiles(dims.BATCH, dims.M, dims.N)};
  const int warp = threadIdx.x / 32, row = warp * WM;

  mma::clear_unfilled<STAGES, THREADS>(smem, p.k);
  mma::multiply_copied<T, U, WM, WIDE, TERMS, STAGES, THREADS, VEC>(
      smem, p, row, 0, [&](const BatchTile& tile, const Accumulators& acc) {
        const int first = tile.row * BM + row, column = tile.column * BN;
        store_warp<f32>(smem.staged[warp], matrix_of(D, dims.BATCH, tile.matrix), p.extent, first, column,
                        gated<BN>(hooks, tile.matrix)(acc, first, column).columns<BN>(0), hooks, tile.matrix);
      });
}

#endif

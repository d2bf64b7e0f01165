//! kernel  gemm_batched "D[i] = epilogue(A[i] * B[i]^T) for each matrix i of a batch: A[M,K], B[N,K], D[M,N], f32 accumulation"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gemm_batched.cuh"
//!
//! param   VEC     = 16   in {16, 8, 4, 2, 1}       "bytes copied at once: the rows of A and B begin at multiples of it"
//! param   BM      = 128  in {64, 128, 256}         "rows of D per block"
//! param   BN      = 256  in {64, 128, 256}         "columns of D per block"
//! param   STEP    = 64   in {64, 128}              "bytes of each row of A and B per step: one swizzled row"
//! param   WM      = 64   in {32, 64}               "rows of D per warp"
//! param   WN      = 64   in {32, 64}               "columns of D per warp"
//! param   STAGES  = 3    in 2..6                   "tiles of A and B in flight"
//! param   BLOCKS  = 1    in {1, 2, 3}              "blocks that share an SM"
//! param   GROUP_M = 8    in {1, 4, 8, 16}          "tile rows visited together, for L2 reuse"
//!
//! let     BK        = STEP / sizeof(T)             "columns of A and B per step"
//! let     WARPS_N   = BN / WN
//! let     WARPS     = BM / WM * WARPS_N
//! let     THREADS   = 32 * WARPS
//! let     SMEM      = align_up(STAGES * (BM + BN) * STEP + WARPS * 16 * WN * sizeof(O), 1024)
//! let     TILES     = BATCH * ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count * BLOCKS))
//! let     FLOAT8    = sizeof(T) == 1 && !integer(T)
//!
//! require VEC == sizeof(T) || TA + TB == 0 && alignment(A) >= VEC && alignment(B) >= VEC "A and B must begin at a multiple of the access"
//! require VEC == sizeof(T) || stride(A, 0) * sizeof(T) % VEC == 0 && stride(B, 0) * sizeof(T) % VEC == 0 "matrices of A and B must begin at multiples of the access"
//! require VEC == sizeof(T) || stride(A, 1) * sizeof(T) % VEC == 0 && stride(B, 1) * sizeof(T) % VEC == 0 "rows of A and B must begin at multiples of the access"
//! require VEC == sizeof(T) || (stride(A, 2) == 1 && stride(B, 2) == 1) "elements that move together must be neighbours"
//! require VEC >= 4 || VEC == sizeof(T)           "cp.async copies 4 bytes or more; elements are gathered one by one"
//! require VEC != 4 || STEP == 64                 "one pass of the block copies whole groups of 8 rows"
//! require !FLOAT8 || device.compute_capability >= 89 "mma.sync multiplies 8-bit floats from sm_89 on"
//! require WARPS == 4 || WARPS == 8                 "a block has 128 or 256 threads"
//! require SMEM <= device.smem_per_block && (SMEM + 1024) * BLOCKS <= device.smem_per_sm "the pipelines of an SM's blocks must fit in shared memory"
//! require !FLOAT8 || device.compute_capability < 90 || device.compute_capability >= 120 || WM * WN <= 1024 "from sm_90 to below sm_120 mma.sync widens 8-bit floats to 16 bits, for which only warp tiles of 32 by 32 leave registers"
//! require TERMS == 1 || WN == 32 && (WM == 32 || STEP == 64) "terms of f32 leave registers for smaller warp tiles"
//! require (WM * WN / 32 + WM / 2 + WN / 2 + 60 + 64 * (FLOAT8 && device.compute_capability >= 90 && device.compute_capability < 120)) * THREADS * BLOCKS <= device.registers_per_sm "accumulators and fragments must fit in registers, from sm_90 to below sm_120 those of 8-bit floats widened to 16 bits too"
//!
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES))  block THREADS  smem SMEM
//! work    flops 2 * BATCH * M * N * K  bytes (A_BATCH * M * K + B_BATCH * N * K) * sizeof(T) + BATCH * M * N * sizeof(O)
//! reference gemm_batched_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 ? (K <= 1024 ? 7 : K <= 8192 ? 5 : 3) : 0
//!
//! preset  VEC = 16, BM = 64, BN = 64, STEP = 128, WM = 32, WN = 32, STAGES = 4   when BATCH * ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  VEC = 16, BM = 128, BN = 128, STEP = 128, WM = 64, WN = 32, STAGES = 5 when device.smem_per_block >= 180000 && BATCH * ceil_div(M, 128) * ceil_div(N, 256) <= device.sm_count / 2
//! preset  VEC = 16, BM = 128, BN = 256, STEP = 128, WM = 64, WN = 64, STAGES = 4 when device.smem_per_block >= 220000
//! preset  VEC = 16, BM = 128, BN = 256, STEP = 64, WM = 64, WN = 64, STAGES = 3
//! preset  VEC = 16, BM = 64, BN = 128, STEP = 64, WM = 32, WN = 32, STAGES = 4 when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  TERMS = 3, VEC = 16, BM = 128, BN = 128, STEP = 64, WM = 64, WN = 32, STAGES = 4
//! preset  VEC = 8, BM = 128, BN = 128, STEP = 64, WM = 64, WN = 32, STAGES = 3
//! preset  VEC = 4, BM = 128, BN = 128, STEP = 64, WM = 64, WN = 32, STAGES = 3
//! preset  VEC = 8, BM = 64, BN = 128, STEP = 64, WM = 32, WN = 32, STAGES = 3 when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  VEC = 4, BM = 64, BN = 128, STEP = 64, WM = 32, WN = 32, STAGES = 3 when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  VEC = 2, BM = 64, BN = 64, STEP = 64, WM = 32, WN = 32, STAGES = 2, BLOCKS = 3
//! preset  VEC = 1, BM = 64, BN = 64, STEP = 64, WM = 32, WN = 32, STAGES = 2, BLOCKS = 3
//! preset  VEC = 1, BM = 64, BN = 64, STEP = 64, WM = 32, WN = 32, STAGES = 2, BLOCKS = 2 when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8

#include "device/epilogue/store_warp.cuh"
#include "device/pipeline/mma_cp_async.cuh"
#include "device/reference/gemm_batched.cuh"
#include "device/schedule/batched.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = BatchTiles<BM, BN, GROUP_M>;
using Accumulators = RegisterTile<layout::Mma<WM, WN>, Unit<T>::Sum>;

struct Smem {
  using TileA = SharedTile<T, BM, BK>;
  using TileB = SharedTile<U, BN, BK>;
  TileA a[STAGES];
  TileB b[STAGES];
  SharedTile<O, 16, WN> staged[WARPS];
};
static_assert(sizeof(Smem) == SMEM);

// Returns one matrix of a batch; if the batch has only one, that. Its rows lie along K, also where the batch's do not.
template <bool Transposed, class X>
__device__ inline View<X, 2> matrix_of(const View<X, 3>& batch, int count, int index) {
  X* const data = batch.data + min(index, count - 1) * batch.stride[0];
  return {data, {batch.stride[Transposed ? 2 : 1], batch.stride[Transposed ? 1 : 2]}};
}

struct Problem {
  View<const T, 3> a;
  View<const U, 3> b;
  View<O, 3> d;
  int count_a, count_b;
  Extent extent;
  int k;
  Tiles tiles;

  template <class CopyA, class CopyB> __device__ void start(const BatchTile& tile, CopyA& copy_a, CopyB& copy_b) const {
    copy_a.start(matrix_of<TA>(a, count_a, tile.matrix), tile.row * BM, extent.rows, k);
    copy_b.start(matrix_of<TB>(b, count_b, tile.matrix), tile.column * BN, extent.columns, k);
  }
};

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void gemm_batched(View<const T, 3> A, View<const T, 3> AT,
                                                                           View<const U, 3> B, View<const U, 3> BT,
                                                                           View<O, 3> D, const Dims dims,
                                                                           const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Problem p = {TA ? AT : A,  TB ? BT : B,      D,      dims.A_BATCH,
                     dims.B_BATCH, {dims.M, dims.N}, dims.K, Tiles(dims.BATCH, dims.M, dims.N)};
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * WM, column = warp % WARPS_N * WN;

  mma::clear_unfilled<STAGES, THREADS>(smem, p.k);
  mma::multiply_copied<T, U, WM, WN, TERMS, STAGES, THREADS, VEC>(
      smem, p, row, column, [&](const BatchTile& tile, const Accumulators& acc) {
        store_warp<S>(smem.staged[warp], matrix_of<false>(p.d, tile.matrix + 1, tile.matrix), p.extent,
                      tile.row * BM + row, tile.column * BN + column, acc, hooks, tile.matrix);
      });
}

#endif

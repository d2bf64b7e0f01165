//! kernel  gemm_gated "D[M,N] = epilogue(gate(A * B^T, A * G^T)): products of A[M,K] with B[N,K] and G[N,K], of which the second gates the first, f32 accumulation"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gemm_gated.cuh"
//!
//! param   VEC     = 16   in {16, 8, 4, 2, 1}        "bytes copied at once: the rows of A, B and G begin at multiples of it"
//! param   BM      = 128  in {64, 128, 256}         "rows of D per block"
//! param   BN      = 32   in {32, 64}               "columns of D per block, of which a warp makes all"
//! param   STEP    = 64   in {64, 128}              "bytes of each row of A, B and G per step: one swizzled row"
//! param   WM      = 32   in {16, 32, 64}           "rows of D per warp"
//! param   STAGES  = 4    in 2..6                   "tiles of A, B and G in flight"
//! param   BLOCKS  = 1    in {1, 2, 3}              "blocks that share an SM"
//! param   GROUP_M = 8    in {1, 4, 8, 16}          "tile rows visited together, for L2 reuse"
//!
//! let     BK        = STEP / sizeof(T)             "columns of A, B and G per step"
//! let     WIDE      = 2 * BN                       "columns of the product"
//! let     FLOAT8    = sizeof(T) == 1 && !integer(T)
//! let     WARPS     = BM / WM
//! let     THREADS   = 32 * WARPS
//! let     SMEM      = align_up(STAGES * (BM + WIDE) * STEP + WARPS * 16 * BN * sizeof(O), 1024)
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count * BLOCKS))
//!
//! require VEC == sizeof(T) || alignment(A) >= VEC && alignment(B) >= VEC && alignment(G) >= VEC "A, B and G must begin at a multiple of the access"
//! require VEC == sizeof(T) || stride(A, 0) * sizeof(T) % VEC == 0 && stride(B, 0) * sizeof(T) % VEC == 0 && stride(G, 0) * sizeof(T) % VEC == 0 "rows of A, B and G must begin at multiples of the access"
//! require VEC == sizeof(T) || stride(A, 1) == 1 && stride(B, 1) == 1 && stride(G, 1) == 1 "elements that move together must be neighbours"
//! require VEC >= 4 || VEC == sizeof(T)           "cp.async copies 4 bytes or more; elements are gathered one by one"
//! require VEC != 4 || STEP == 64                   "one pass of the block copies whole groups of 8 rows"
//! require !FLOAT8 || device.compute_capability >= 89 "mma.sync multiplies 8-bit floats from sm_89 on"
//! require !FLOAT8 || device.compute_capability < 90 || device.compute_capability >= 120 || WM * WIDE <= 1024 "from sm_90 to below sm_120 mma.sync widens 8-bit floats to 16 bits, for which only warp tiles of 1024 sums leave registers"
//! require WARPS == 4 || WARPS == 8                 "a block has 128 or 256 threads"
//! require THREADS * 16 / STEP <= BN || VEC < 16 && THREADS * 8 / STEP <= BN && VEC > 2 "one pass of the block copies rows of B or of G alone"
//! require SMEM <= device.smem_per_block && (SMEM + 1024) * BLOCKS <= device.smem_per_sm "the pipelines of an SM's blocks must fit in shared memory"
//! require (WM * WIDE / 32 + WM / 2 + WIDE / 2 + 60 + 64 * (FLOAT8 && device.compute_capability >= 90 && device.compute_capability < 120)) * THREADS * BLOCKS <= device.registers_per_sm && WM * WIDE <= 4096 "accumulators and fragments must fit in registers, from sm_90 to below sm_120 those of 8-bit floats widened to 16 bits too"
//!
//! workspace state  8 * AMAX  zero                  "LargestState"
//!
//! launch  grid (DYNAMIC ? TILES : ceil_div(TILES, WAVES))  block THREADS  smem SMEM
//! work    flops 4 * M * N * K  bytes (M * K + 2 * N * K) * sizeof(T) + M * N * sizeof(O)
//! reference gemm_gated_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 ? (K <= 1024 ? 6 : K <= 8192 ? 4 : 2) : 0 "an error of one sum is multiplied by the other"
//!
//! preset  VEC = 16, BM = 128, BN = 64, STEP = 128, WM = 32, STAGES = 4  when device.smem_per_block >= 180000
//! preset  VEC = 16, BM = 256, BN = 32, STEP = 64, WM = 64, STAGES = 4
//! preset  VEC = 8, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 4, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 2, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 1, BM = 128, BN = 32, STEP = 64, WM = 32, STAGES = 4
//! preset  VEC = 16, BM = 64, BN = 32, STEP = 64, WM = 16, STAGES = 4  when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  VEC = 8, BM = 64, BN = 32, STEP = 64, WM = 16, STAGES = 4  when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  VEC = 4, BM = 64, BN = 32, STEP = 64, WM = 16, STAGES = 4  when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8
//! preset  VEC = 1, BM = 64, BN = 32, STEP = 64, WM = 16, STAGES = 4  when device.compute_capability >= 90 && device.compute_capability < 120 && FLOAT8

#include "device/epilogue/gate.cuh"
#include "device/epilogue/store_warp.cuh"
#include "device/pipeline/mma_cp_async.cuh"
#include "device/reference/gemm_gated.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/cp_async_paired_tile.cuh"
#include "device/tile/shared_memory.cuh"

// The two products are one, of A with tiles of B and G below each other: each warp makes all columns of its rows, so
// that a thread has the sums of both for the same elements of D.

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M>;
using Accumulators = RegisterTile<layout::Mma<WM, WIDE>, Unit<T>::Sum>;
using Staged = SharedTile<O, 16, BN>;

struct Smem {
  using TileA = SharedTile<T, BM, BK>;
  using TileB = PairedTile<U, BN, BK>;
  TileA a[STAGES];
  TileB b[STAGES];
  Staged staged[WARPS];
};
static_assert(sizeof(Smem) <= SMEM);

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

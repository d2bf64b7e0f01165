//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/gemm.cuh"
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
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count * BLOCKS))
//! let     FLOAT8    = sizeof(T) == 1 && !integer(T)
//!
//! require VEC == sizeof(T) || TA + TB == 0 && alignment(A) >= VEC && alignment(B) >= VEC "A and B must begin at a multiple of the access"
//! require VEC == sizeof(T) || stride(A, 0) * sizeof(T) % VEC == 0 && stride(B, 0) * sizeof(T) % VEC == 0 "rows of A and B must begin at multiples of the access"
//! require VEC == sizeof(T) || (stride(A, 1) == 1 && stride(B, 1) == 1) "elements that move together must be neighbours"
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
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 ? (K <= 1024 ? 7 : K <= 8192 ? 5 : 3) : 0
//!
//! preset  VEC = 16, BM = 64, BN = 64, STEP = 128, WM = 32, WN = 32, STAGES = 4   when ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  VEC = 16, BM = 128, BN = 128, STEP = 128, WM = 64, WN = 32, STAGES = 5 when device.smem_per_block >= 180000 && ceil_div(M, 128) * ceil_div(N, 256) <= device.sm_count / 2
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

#include "device/epilogue/own_operands.cuh"
#include "device/epilogue/store_tile.cuh"
#include "device/pipeline/cp_async_pipeline.cuh"
#include "device/reference/gemm.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/cp_async_tile.cuh"
#include "device/tile/mma_tile.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = PersistentTiles<BM, BN, GROUP_M>;
using Accumulators = RegisterTile<layout::Mma<WM, WN>, Unit<T>::Sum>;
using Operands = mma::Operands<T, WM, WN>;
using TileA = SharedTile<T, BM, BK>;
using TileB = SharedTile<T, BN, BK>;

struct Smem {
  TileA a[STAGES];
  TileB b[STAGES];
  SharedTile<O, 16, WN> staged[WARPS];
};
static_assert(sizeof(Smem) == SMEM);

struct Problem {
  View<const T, 2> a, b;
  View<O, 2> d;
  Extent extent;
  int k;
  Tiles tiles;
  __device__ int steps() const { return max(1, ceil_div<u32>(k, BK)); }
};

// Loads the steps of all tiles of this block, STAGES - 1 steps ahead of the products. If K is 0, loads nothing, and the
// only step multiplies the zeros that all slots contain.
struct Loader {
  cp_async::TileCopy<TileA, THREADS, VEC> a;
  cp_async::TileCopy<TileB, THREADS, VEC> b;
  Tiles::Index index;
  int step = 0;

  __device__ explicit Loader(const Problem& p) : index(p.k > 0 ? p.tiles.begin() : p.tiles.end()) { start(p); }
  __device__ void start(const Problem& p) {
    const Tile tile = p.tiles[*index];
    a.start(p.a, tile.row * BM, p.extent.rows, p.k);
    b.start(p.b, tile.column * BN, p.extent.columns, p.k);
  }
  // Starts one of Parts shares of the next step's copies; does nothing once every tile is loaded.
  template <int Parts> __device__ void copy(Smem& smem, u32 slot, const Problem& p, int part) const {
    if (index != p.tiles.end()) cp_async::copy_part<Parts>(a, smem.a[slot], b, smem.b[slot], part);
  }
  __device__ void advance(const Problem& p) {
    a.advance();
    b.advance();
    if (++step < p.steps()) return;
    step = 0;
    ++index;
    if (index != p.tiles.end()) start(p);
  }
};

constexpr int kDepth = mma::kDepth<T>;  // columns of A and B in one product

// Stores 16 rows of a warp at a time through its own shared memory.
__device__ inline void store(SharedTile<O, 16, WN>& staged, const Problem& p, const Hooks& hooks, int row, int column,
                             const Accumulators& acc) {
  const bool vectors = rows_of_16_bytes(p.d);
  auto results = acc.as<S>();
  apply_epilogue(hooks, results, row, column);
#pragma unroll
  for (int i = 0; i < WM; i += 16) {
    __syncwarp();
    store(staged, 0, 0, results.template rows<16>(i));
    __syncwarp();
    store_rows<32>(p.d, staged, p.extent, row + i, column, threadIdx.x % 32, vectors);
  }
}

// Returns a view of the transposed matrix.
__device__ inline View<const T, 2> transposed(const View<const T, 2>& of) {
  return {of.data, {of.stride[1], of.stride[0]}};
}

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void gemm(View<const T, 2> A, View<const T, 2> AT,
                                                                   View<const T, 2> B, View<const T, 2> BT,
                                                                   View<O, 2> D, const Dims dims,
                                                                   const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Problem p = {TA ? transposed(AT) : A, TB ? transposed(BT) : B, D, {dims.M, dims.N}, dims.K,
                     Tiles(dims.M, dims.N)};
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * WM, column = warp % WARPS_N * WN;

  // Operands are read one step ahead, so that the end of a short problem reads slots that no copy has filled. The
  // values are not used, but reading uninitialised shared memory is an error for checkers.
  if (p.steps() < STAGES) {
    clear<THREADS>(smem.a);
    clear<THREADS>(smem.b);
    __syncthreads();
  }
  CpAsyncPipeline<STAGES> pipeline;
  Loader loader(p);
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; ++i) {
    loader.copy<1>(smem, pipeline.acquire(), p, 0);
    pipeline.commit();
    loader.advance(p);
  }
  u32 slot = pipeline.wait();
  Operands operands[2];
  operands[0].load(smem.a[slot], row, smem.b[slot], column, 0);
#pragma unroll 1
  for (const int index : p.tiles) {
    Accumulators acc = {};
    // Loop invariant: operands[0] holds the first product along K; while one is multiplied, the operands of the
    // next are being loaded, also across slots and tiles.
#pragma unroll 1
    for (int step = 0; step < p.steps(); ++step) {
#pragma unroll
      for (int k = 0; k < BK; k += kDepth) {
        if (k + kDepth == BK) {
          pipeline.commit();
          loader.advance(p);
          slot = pipeline.wait();
        }
        operands[(k / kDepth + 1) % 2].load(smem.a[slot], row, smem.b[slot], column, (k + kDepth) % BK);
        if (k + kDepth < BK) loader.copy<BK / kDepth - 1>(smem, pipeline.acquire(), p, k / kDepth);
        operands[k / kDepth % 2].multiply<TERMS>(acc);
      }
    }
    const Tile tile = p.tiles[index];
    store(smem.staged[warp], p, hooks, tile.row * BM + row, tile.column * BN + column, acc);
  }
}

#endif

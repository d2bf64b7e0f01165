//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation; few rows of D, few tiles, or long K"
//! arch    sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/gemm.cuh"
//!
//! param   BM      = 32   in {16, 32, 48, 64, 96, 128} "rows of D per block: columns of the product"
//! param   STAGES  = 8    in 2..12                  "tiles of A and B in flight"
//! param   CHUNKS  = 1    in {1, 2, 3, 4, 6, 8, 12, 16} "blocks that share K: the last to come adds up what the others left in global memory"
//!
//! let     BN        = 128                          "columns of D per block: the lanes of tensor memory"
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     THREADS   = 192                          "four warps store, one loads, one multiplies"
//! let     SMEM      = align_up(STAGES * (BM + BN) * 128 + 16 * STAGES + 32, 1024)
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! let     RESIDENT  = max(1, device.smem_per_sm / (SMEM + 1024)) "blocks on an SM at a time"
//! let     WAVES     = max(1, ceil_div(TILES * CHUNKS, device.sm_count * RESIDENT))
//! let     STEPS     = ceil_div(ceil_div(K, BK), CHUNKS)
//! let     STEP      = RESIDENT * max(BM * 2, (BM + BN) * 3 / 2) "cycles of one step along K: tensor cores, L2"
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require !integer(T) || device.compute_capability == 100 && BM % 32 == 0 "of sm_100a and sm_103a only the first multiplies s8, by multiples of 32 rows of D"
//! require AMAX == 0                                "results of tiles that several blocks sum are not compared"
//! require TERMS == 1                               "gemm_f32_tcgen05 multiplies f32 by three terms"
//! require INVARIANT == 0 || CHUNKS == 1            "a sum over K that is divided has other bits than one that is not, as of many rows"
//! require TA + TB == 0 || sizeof(T) <= 2           "this kernel reads only 8-bit and 16-bit types along M or N: give A and B, whose rows lie along K, which the kernel transpose makes"
//! require TA == 0 || BM % (128 / sizeof(T)) == 0   "a block loads panels of 128 bytes of AT"
//!
//! tensor  A   box [BM, BK]               swizzle 128  l2 256
//! tensor  AT  box [BK, 128 / sizeof(T)]  swizzle 128  l2 256
//! tensor  B   box [BN, BK]               swizzle 128  l2 256  early
//! tensor  BT  box [BK, 128 / sizeof(T)]  swizzle 128  l2 256  early
//!
//! workspace partials  CHUNKS == 1 ? 0 : TILES * CHUNKS * BM * BN * 4  "sums of one chunk"
//! workspace counters  CHUNKS == 1 ? 0 : TILES * 4  zero               "chunks that have come"
//!
//! launch  grid TILES * CHUNKS  block THREADS  smem SMEM  waits
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)  cycles 14000 + max(WAVES * (2500 + BM * 30 + STEPS * STEP), ((M * K + N * K) * sizeof(T) + M * N * sizeof(O)) / 2230) + (CHUNKS == 1 ? 0 : 3000 + CHUNKS * BM * 40) "by the rates of a B200; not measured"
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256
//!
//! preset  BM = 16, STAGES = 12  when M <= 16
//! preset  BM = 16, STAGES = 12, CHUNKS = 4  when M <= 16
//! preset  BM = 32, STAGES = 10
//! preset  BM = 32, STAGES = 10, CHUNKS = 4
//! preset  BM = 64, STAGES = 8
//! preset  BM = 64, STAGES = 8, CHUNKS = 4
//! preset  BM = 64, STAGES = 8, CHUNKS = 16
//! preset  BM = 128, STAGES = 6, CHUNKS = 4

#include "device/epilogue/own_operands.cuh"
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/reduce/grid.cuh"
#include "device/reference/gemm.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tcgen05_tile.cuh"
#include "device/tile/tma_tile.cuh"

// The problem: where D has few rows, they do not fill the 128 lanes of tensor memory, and the tiles of D do not fill
// the GPU. The idea: swap the operands, D^T = B * A^T, and split K. The lanes are then columns of D, and a tile may
// have as few as 16 rows of D. K is divided among blocks, each of which processes every CHUNKS-th step; the last of a
// tile to finish adds up the sums of all in ascending order of K, so that results do not depend on timing. The cost:
// the sums of every chunk are written to and read from global memory once.

#ifndef TMA_JIT_REFERENCE

using Sum = Unit<T>::Sum;

constexpr int kStoreThreads = 128, kLoadWarp = 4, kMultiplyWarp = 5;
constexpr int kColumns = tensor_memory::allocation(BM), kPart = 16;  // rows of D that a thread has in registers

using Part = RegisterTile<layout::Lane<kPart>, Sum>;

struct Smem {
  OperandTile<TA, T, BM, BK> a[STAGES];
  OperandTile<TB, U, BN, BK> b[STAGES];
  Pipeline<STAGES> pipeline;
  Barrier multiplied;
  u32 address;  // of the accumulator, in tensor memory
  bool last;    // whether this block's chunk finished last
};
static_assert(sizeof(Smem) <= SMEM);

// The work of one block: some steps of a tile.
struct Chunk {
  int tile, index;
  int row, column;  // in D
  int steps;        // of this chunk
};

// Loads the chunk's steps. Called by one thread. B's first tile is requested before the kernel waits for the one before
// it. Loop invariant: all earlier steps have been requested; at most STAGES of them are not yet released.
__device__ void produce(Smem& smem, const CUtensorMap& A, const CUtensorMap& B, const Chunk& chunk) {
  Producer producer(smem.pipeline);
#pragma unroll 1
  for (int step = 0; step < chunk.steps; ++step) {
    const int k = (chunk.index + step * CHUNKS) * BK;
    const u32 slot = producer.acquire(sizeof(smem.a[0]) + sizeof(smem.b[0]));
    auto& a = smem.a[slot];
    auto& b = smem.b[slot];
    tma::load(b, B, smem.pipeline.full[slot], b.column(chunk.column, k), b.row(chunk.column, k));
    if (step == 0) grid::wait();
    tma::load(a, A, smem.pipeline.full[slot], a.column(chunk.row, k), a.row(chunk.row, k));
  }
}

// Multiplies the chunk's steps. Called by one thread. Loop invariant: the products of all earlier steps have been
// issued.
__device__ void multiply(Smem& smem, const Chunk& chunk) {
  Consumer consumer(smem.pipeline);
  for (int step = 0; step < chunk.steps; ++step) {
    const u32 slot = consumer.wait();
    tcgen05::fence_after();
    tcgen05::multiply<1>(smem.address, smem.b[slot], smem.a[slot], step > 0);
    tcgen05::commit(smem.pipeline.empty[slot]);
  }
  tcgen05::commit(smem.multiplied);
}

// Calls f(first, sums) for each kPart rows of D from `first` on, with this chunk's sums of this thread's column.
template <class F> __device__ void each_part(const Smem& smem, const Chunk& chunk, F f) {
  const u32 from = tensor_memory::at(smem.address, threadIdx.x / 32 * 32, 0);
#pragma unroll 1
  for (int first = 0; first < BM; first += kPart) {
    Part sums = {};
    if (chunk.steps > 0) tcgen05::load(sums, from + first);
    f(first, sums);
  }
}

// Stores the rows of D from `first` of the tile on: each thread's column, of which a warp's are neighbours.
__device__ void store(const View<O, 2>& D, const Chunk& chunk, const Dims& dims, const Hooks& hooks, int first,
                      const Part& sums) {
  const int row = chunk.row + first, column = chunk.column + threadIdx.x;
  auto results = sums.template as<S>();
  apply_epilogue<true>(hooks, results, row, chunk.column + threadIdx.x / 32 * 32);
  if (column >= dims.N) return;
#pragma unroll
  for (int i = 0; i < kPart; ++i) {
    if (row + i >= dims.M) return;
    D.data[(row + i) * D.stride[0] + column * D.stride[1]] = rounded<O>(results.x[i]);
  }
}

// Stores the chunk's sums, or leaves them in `partials` and stores those of all chunks if this one comes last. Called
// by four warps.
__device__ void finish(Smem& smem, const View<O, 2>& D, u8* partials, u8* counters, const Chunk& chunk,
                       const Dims& dims, const Hooks& hooks) {
  grid::wait();
  smem.multiplied.wait(0);
  tcgen05::fence_after();
  if constexpr (CHUNKS == 1) {
    each_part(smem, chunk, [&](int first, const Part& sums) { store(D, chunk, dims, hooks, first, sums); });
    return;
  }
  Sum* const all = reinterpret_cast<Sum*>(partials) + s64{chunk.tile} * (CHUNKS * BM * BN) + threadIdx.x;
  each_part(smem, chunk, [&](int first, const Part& sums) {
#pragma unroll
    for (int i = 0; i < kPart; ++i) all[(chunk.index * BM + first + i) * BN] = sums.x[i];
  });
  sync(1, kStoreThreads);
  if (threadIdx.x == 0) smem.last = last_arriver(reinterpret_cast<u32*>(counters) + chunk.tile, CHUNKS);
  sync(1, kStoreThreads);
  if (!smem.last) return;
#pragma unroll 1
  for (int first = 0; first < BM; first += kPart) {
    Part sums = {};
#pragma unroll 1
    for (int other = 0; other < CHUNKS; ++other) {
#pragma unroll
      for (int i = 0; i < kPart; ++i) sums.x[i] += all[(other * BM + first + i) * BN];
    }
    store(D, chunk, dims, hooks, first, sums);
  }
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm(const __grid_constant__ CUtensorMap A,
                                                              const __grid_constant__ CUtensorMap AT,
                                                              const __grid_constant__ CUtensorMap B,
                                                              const __grid_constant__ CUtensorMap BT, View<O, 2> D,
                                                              View<f32, 1>, u8* partials, u8* counters, const Dims dims,
                                                              const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const int rows = ceil_div<u32>(dims.M, BM), tiles = rows * ceil_div<u32>(dims.N, BN), tile = blockIdx.x % tiles;
  const int index = blockIdx.x / tiles, steps = ceil_div<u32>(dims.K, BK), warp = threadIdx.x / 32;
  const Chunk chunk = {tile, index, tile % rows * BM, tile / rows * BN, (steps - index + CHUNKS - 1) / CHUNKS};
  grid::launch_dependents();
  if (threadIdx.x == 0) {
    smem.multiplied.init(1);
    smem.pipeline.init(1);
  }
  if (warp == kMultiplyWarp) {
    tensor_memory::alloc<kColumns>(&smem.address);
    tensor_memory::relinquish_alloc_permit();
  }
  __syncthreads();
  if (warp < kLoadWarp)
    finish(smem, D, partials, counters, chunk, dims, hooks);
  else if (threadIdx.x == kLoadWarp * 32)
    produce(smem, TA ? AT : A, TB ? BT : B, chunk);
  else if (threadIdx.x == kMultiplyWarp * 32)
    multiply(smem, chunk);
  tcgen05::fence_before();
  __syncthreads();  // the columns are free once they have been read
  if (warp == kMultiplyWarp) tensor_memory::dealloc<kColumns>(smem.address);
}

#endif

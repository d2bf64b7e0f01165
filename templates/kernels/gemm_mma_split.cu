//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation; few tiles of D, long K"
//! arch    sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/gemm.cuh"
//!
//! param   BM      = 128  in {64, 128, 256}         "rows of D per block"
//! param   BN      = 256  in {64, 128, 256}         "columns of D per block"
//! param   STEP    = 64   in {64, 128}              "bytes of each row of A and B per step: one swizzle row"
//! param   WM      = 64   in {32, 64}               "rows of D per warp"
//! param   WN      = 64   in {32, 64}               "columns of D per warp"
//! param   STAGES  = 3    in 2..8                   "tiles of A and B in flight"
//! param   CHUNKS  = 4    in {2, 3, 4, 6, 8, 12, 16} "blocks that share K: the last to come adds up what the others left in global memory"
//!
//! let     BK        = STEP / sizeof(T)             "columns of A and B per step"
//! let     WARPS_N   = BN / WN
//! let     WARPS     = BM / WM * WARPS_N            "warps that multiply; a warpgroup more loads"
//! let     THREADS   = 32 * WARPS + 128
//! let     EPI_N     = 128 / sizeof(O)              "columns of D stored at a time"
//! let     SMEM      = align_up(STAGES * (BM + BN) * STEP + BM * 128 + 16 * STAGES + 8, 1024)
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES * CHUNKS, device.sm_count))
//! let     CYCLES    = BM * BN * BK * TERMS * max(2, sizeof(T)) / 1800 + 60 "cycles of one step along K"
//! let     FLOAT8    = sizeof(T) == 1 && !integer(T)
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require AMAX == 0                                "results of tiles that several blocks sum are not compared"
//! require WARPS == 4 || WARPS == 8                 "registers are traded between whole warpgroups"
//! require WM * WN / 32 + WM / 2 + WN / 2 + 40 <= (WARPS == 8 ? 232 : 255) "accumulators and fragments must fit in registers"
//! require BN % EPI_N == 0                          "a block stores whole epilogue tiles"
//! require TERMS == 1 || WN == 32 && (WM == 32 || STEP == 64) "terms of f32 leave registers for smaller warp tiles"
//! require INVARIANT == 0                           "a sum over K that is divided has other bits than one that is not, as of many rows"
//! require TA + TB == 0 || sizeof(T) == 2           "ldmatrix reads only 16-bit types along M or N: give A and B, whose rows lie along K, which the kernel transpose makes"
//!
//! tensor  A   box [BM, BK]     swizzle STEP  l2 256
//! tensor  AT  box [BK, 64]     swizzle 128  l2 256
//! tensor  B   box [BN, BK]     swizzle STEP  l2 256  early
//! tensor  BT  box [BK, 64]     swizzle 128  l2 256  early
//! tensor  D   box [BM, EPI_N]  swizzle 128  view
//!
//! workspace partials  TILES * CHUNKS * BM * BN * 4  "sums of one chunk"
//! workspace counters  TILES * 4  zero              "chunks that have come"
//!
//! launch  grid TILES * CHUNKS  block THREADS  smem SMEM  waits
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)  cycles 14000 + max(WAVES * (1500 + ceil_div(ceil_div(K, BK), CHUNKS) * CYCLES), ((M * K + N * K) * sizeof(T) + M * N * sizeof(O)) / 1500) + 3000 + CHUNKS * BM * BN / 100 "in the units of gemm_mma.cu"
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits FLOAT8 ? (K <= 1024 ? 7 : K <= 8192 ? 5 : 3) : 0
//!
//! preset  BM = 64, BN = 64, WM = 32, WN = 32, STAGES = 8, CHUNKS = 4   when TILES <= device.sm_count
//! preset  BM = 64, BN = 64, WM = 32, WN = 32, STAGES = 8, CHUNKS = 16  when TILES <= device.sm_count
//! preset  BM = 128, BN = 128, WM = 64, WN = 32, STAGES = 5, CHUNKS = 4  when TILES <= device.sm_count
//! preset  BM = 64, BN = 128, WM = 32, WN = 32, STAGES = 6, CHUNKS = 2  when TILES <= device.sm_count

#include "device/epilogue/store_results.cuh"
#include "device/pipeline/mma_multiplier.cuh"
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/reduce/grid.cuh"
#include "device/reference/gemm.cuh"
#include "device/tile/operand_tile.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_tile.cuh"

// The problem: where the tiles of D do not fill the GPU and K is long, most SMs have nothing to do. The idea: K is
// divided among blocks, each of which processes every CHUNKS-th step of a tile; the last of a tile to finish adds up
// the sums of all in ascending order of K, so that results do not depend on timing. The cost: the sums of every chunk
// are written to and read from global memory once.

#ifndef TMA_JIT_REFERENCE

using Sum = Unit<T>::Sum;
using Accumulators = RegisterTile<layout::Mma<WM, WN>, Sum>;

struct Smem {
  OperandTile<TA, T, BM, BK> a[STAGES];
  OperandTile<TB, U, BN, BK> b[STAGES];
  SharedTile<O, BM, EPI_N> staged[1];
  Pipeline<STAGES> pipeline;
  bool last;  // whether this block's chunk finished last
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

// Leaves this chunk's sums in `all`, of this thread, and replaces them by those of all chunks in the block that comes
// last; returns false in the others. Called by all consumers.
__device__ bool collect(Smem& smem, Sum* all, u32* counter, int chunk, Accumulators& sums) {
  constexpr int kThreads = WARPS * 32, kRegisters = Accumulators::Layout::kRegisters;
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) all[(chunk * kRegisters + i) * kThreads] = sums.x[i];
  sync(2, kThreads);
  if (threadIdx.x == 0) smem.last = last_arriver(counter, CHUNKS);
  sync(2, kThreads);
  if (!smem.last) return false;
  sums.fill(0);
#pragma unroll 1
  for (int other = 0; other < CHUNKS; ++other) {
#pragma unroll
    for (int i = 0; i < kRegisters; ++i) sums.x[i] += all[(other * kRegisters + i) * kThreads];
  }
  return true;
}

// Multiplies and, if this chunk comes last, stores the tile. Called by all consumer warps.
__device__ void consume(Smem& smem, const Mapped<O, 2>& D, u8* partials, u8* counters, const Chunk& chunk,
                        const Dims& dims, const Hooks& hooks) {
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * WM, column = warp % WARPS_N * WN;
  Consumer consumer(smem.pipeline);
  Accumulators acc;
  mma::multiply_tile<T, WM, WN, BK, TERMS, U>(smem, consumer, chunk.steps, row, column, acc);
  Sum* const all = reinterpret_cast<Sum*>(partials) + s64{chunk.tile} * (CHUNKS * BM * BN) + threadIdx.x;
  if (!collect(smem, all, reinterpret_cast<u32*>(counters) + chunk.tile, chunk.index, acc)) return;
  tma::store_tile<S, WARPS, BN>(smem.staged, D, {dims.M, dims.N}, chunk.row, chunk.column, row, column, acc, hooks);
  if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm(const __grid_constant__ CUtensorMap A,
                                                              const __grid_constant__ CUtensorMap AT,
                                                              const __grid_constant__ CUtensorMap B,
                                                              const __grid_constant__ CUtensorMap BT,
                                                              const __grid_constant__ Mapped<O, 2> D, View<f32, 1>,
                                                              u8* partials, u8* counters, const Dims dims,
                                                              const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const int rows = ceil_div<u32>(dims.M, BM), tiles = rows * ceil_div<u32>(dims.N, BN), tile = blockIdx.x % tiles;
  const int index = blockIdx.x / tiles, steps = ceil_div<u32>(dims.K, BK);
  const Chunk chunk = {tile, index, tile % rows * BM, tile / rows * BN, (steps - index + CHUNKS - 1) / CHUNKS};
  grid::launch_dependents();
  if (threadIdx.x >= WARPS * 32) {
    const bool first = threadIdx.x == WARPS * 32;
    if (first) smem.pipeline.init(WARPS);
    start_producer(THREADS);
    if constexpr (WARPS == 8) give_registers<40>();
    if (first) produce(smem, TA ? AT : A, TB ? BT : B, chunk);
  } else {
    start_consumer(THREADS);
    if constexpr (WARPS == 8) take_registers<232>();
    grid::wait();
    consume(smem, D, partials, counters, chunk, dims, hooks);
  }
}

#endif

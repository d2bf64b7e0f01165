//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation"
//! arch    sm_100a, sm_103a
//!
//! type    T      = bf16  in {bf16, f16, e4m3, e5m2} "elements of A and B"
//! type    O      = bf16  in {bf16, f16, f32}       "elements of D"
//! dim     M, N, K in 0..2147483647
//!
//! param   BN      = 256  in {32, 64, 128, 256}     "columns of D per tile"
//! param   STAGES  = 6    in 2..8                   "tiles of A and B in flight"
//! param   PAIR    = 2    in {1, 2}                 "blocks that multiply one tile together, 128 rows of D each"
//! param   BAND    = 8    in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BM        = 128                          "rows of D per block: the lanes of tensor memory"
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     THREADS   = 192                          "four warps store, one loads, one multiplies"
//! let     STRIP     = 128 / sizeof(O)              "columns of D in one 128-byte swizzle row"
//! let     BUFFERS   = BN / STRIP % 2 == 0 ? 2 : 1  "strips stored together"
//! let     SMEM      = align_up(STAGES * (BM + BN / PAIR) * 128 + BUFFERS * BM * 128 + 16 * STAGES + 40, 1024)
//! let     TILES     = ceil_div(M, BM * PAIR) * ceil_div(N, BN) "tiles of a pair"
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count / PAIR))
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require BN % STRIP == 0                          "a block stores whole strips"
//! require BN / PAIR % 8 == 0                       "each block of a pair loads whole swizzle atoms of B"
//!
//! tensor  A : T[M, K]    box [BM, BK]         swizzle 128  l2 256
//! tensor  B : T[N, K]    box [BN / PAIR, BK]  swizzle 128  l2 256
//! tensor  D : O[M, N]    box [BM, STRIP]      swizzle 128  out  view
//!
//! hook    epilogue(f32 x, s32 row, s32 column) : f32 = x    "applied to each element of the product before it is rounded"
//!
//! cluster PAIR
//! launch  grid ceil_div(TILES, WAVES) * PAIR  block THREADS  smem SMEM
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256
//!
//! preset  BN = 64, STAGES = 8, PAIR = 1   when ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  BN = 128, STAGES = 6, PAIR = 1  when ceil_div(M, 256) * ceil_div(N, 256) <= device.sm_count / 4
//! preset  BN = 256, STAGES = 6, PAIR = 2

#include "device/barrier.cuh"
#include "device/cluster.cuh"
#include "device/gemm_problem.cuh"
#include "device/gemm_reference.cuh"
#include "device/named_barrier.cuh"
#include "device/strip.cuh"
#include "device/tcgen05.cuh"
#include "device/tensor_memory.cuh"
#include "device/tma.cuh"
#include "device/tma_pair.cuh"

#ifndef TMA_JIT_REFERENCE

using Problem = GemmProblem<PAIR>;

constexpr int kStoreThreads = 128, kLoadWarp = 4, kMultiplyWarp = 5;
constexpr int kAccumulators = 2;  // tiles in tensor memory: one is multiplied while the other is stored
constexpr int kColumns = kAccumulators * BN;

// An instruction multiplies 32 bytes along K.
constexpr int kDepth = 32 / sizeof(T);
template <int Bytes> struct KindOf { using type = tcgen05::F16; };
template <> struct KindOf<1> { using type = tcgen05::F8f6f4; };
using Kind = KindOf<sizeof(T)>::type;

struct Smem {
  alignas(1024) T a[STAGES][BM][BK];
  alignas(1024) T b[STAGES][BN / PAIR][BK];
  alignas(1024) O strip[BUFFERS][BM][STRIP];
  Barrier full[STAGES], empty[STAGES];
  Barrier ready[kAccumulators], drained[kAccumulators];
  u32 accumulators;  // their address in tensor memory
};
static_assert(sizeof(Smem) == SMEM);

// One thread of each block keeps its ring of A and B tiles full. Invariant: slot `ring.slot` is filled only after the
// products that read it are complete, in both blocks of a pair. The even block's barrier counts the bytes of both.
__device__ void produce(Smem& smem, const CUtensorMap& A, const CUtensorMap& B, Problem p) {
  constexpr int kShare = BN / PAIR;
  const int rank = p.rank();
  Ring<STAGES> ring;
  for (int index = p.first(); index < p.tiles(); index += p.stride()) {
    const Tile tile = p.tile(index, rank);
    const int row = tile.column * BN + rank * kShare;
    for (int step = 0; step < p.steps(); ++step, ring.advance()) {
      Barrier& full = smem.full[ring.slot];
      smem.empty[ring.slot].wait(ring.phase ^ 1);
      if (rank == 0) full.expect(PAIR * (sizeof(smem.a[0]) + sizeof(smem.b[0])));
      if constexpr (PAIR == 1) {
        tma::load(smem.a[ring.slot], A, full, step * BK, tile.row * BM);
        tma::load(smem.b[ring.slot], B, full, step * BK, row);
      } else {
        tma::load_pair(smem.a[ring.slot], A, full, step * BK, tile.row * BM);
        tma::load_pair(smem.b[ring.slot], B, full, step * BK, row);
      }
    }
  }
}

// Signals both blocks of a pair when everything issued so far is complete.
__device__ inline void commit(Barrier& barrier) {
  if constexpr (PAIR == 1)
    tcgen05::commit(barrier);
  else
    tcgen05::commit_multicast<PAIR>(barrier, (1 << PAIR) - 1);
}

// One thread of the even block multiplies. Invariant: an accumulator is overwritten only after the warps of both blocks
// have drained it; the first product of a tile overwrites it.
__device__ void multiply(Smem& smem, Problem p, u32 accumulators) {
  constexpr u32 kType = ptx::kOneOf<T, bf16, e5m2> ? 1 : 0;
  const tcgen05::Instruction what = tcgen05::Instruction(BM * PAIR, BN, kType, kType).accumulators(1);
  Ring<STAGES> ring;
  Ring<kAccumulators> tiles;
  for (int index = p.first(); index < p.tiles(); index += p.stride(), tiles.advance()) {
    if (p.steps() == 0) continue;
    smem.drained[tiles.slot].wait_cluster(tiles.phase ^ 1);
    tcgen05::fence_after();
    for (int step = 0; step < p.steps(); ++step, ring.advance()) {
      smem.full[ring.slot].wait(ring.phase);
      tcgen05::fence_after();
      const u64 a = tcgen05::descriptor<128>(smem_address(smem.a[ring.slot]), 16, 1024);
      const u64 b = tcgen05::descriptor<128>(smem_address(smem.b[ring.slot]), 16, 1024);
#pragma unroll
      for (int k = 0; k < BK; k += kDepth)
        tcgen05::mma<Kind, PAIR>(accumulators + tiles.slot * BN, a + k * sizeof(T) / 16, b + k * sizeof(T) / 16, what,
                                 step + k > 0);
      commit(smem.empty[ring.slot]);
    }
    commit(smem.ready[tiles.slot]);
  }
}

// This thread's row of one strip, rounded, into its buffer: 16-byte chunks, the 128-byte swizzle.
template <class Out>
__device__ inline void round_strip(Out (&strip)[STRIP], const u32 (&bits)[STRIP], int row, int column) {
  constexpr int kChunk = 16 / sizeof(Out), kEach = 4 / sizeof(Out);
  char* to = reinterpret_cast<char*>(strip);
#pragma unroll
  for (int chunk = 0; chunk < 8; ++chunk) {
    u32 words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at = chunk * kChunk + i * kEach;
      const f32 x = epilogue(__uint_as_float(bits[at]), row, column + at);
      if constexpr (sizeof(Out) == 2)
        words[i] = pack<Out>(x, epilogue(__uint_as_float(bits[at + 1]), row, column + at + 1));
      else
        words[i] = __float_as_uint(x);
    }
    *reinterpret_cast<uint4*>(to + (chunk ^ threadIdx.x % 8) * 16) = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

// Four warps, a row of D a thread: from tensor memory to strips, and from there, BUFFERS at a time, to D. The
// accumulator is given back before its last strips are stored. Invariant at each barrier: first, the buffers are free;
// second, they are whole.
__device__ void store(Smem& smem, const Mapped<O, 2>& D, Problem p, u32 accumulators) {
  const int rank = p.rank(), warp = threadIdx.x / 32;
  Ring<kAccumulators> tiles;
  for (int index = p.first(); index < p.tiles(); index += p.stride(), tiles.advance()) {
    const Tile tile = p.tile(index, rank);
    if (p.steps() > 0) smem.ready[tiles.slot].wait(tiles.phase);
    tcgen05::fence_after();
    const u32 from = tensor_memory::at(accumulators, warp * 32, tiles.slot * BN);
    for (int first = 0; first < BN / STRIP; first += BUFFERS) {
      if (threadIdx.x == 0) tma::wait_read<0>();
      sync(1, kStoreThreads);
#pragma unroll
      for (int i = 0; i < BUFFERS; ++i) {
        u32 bits[STRIP] = {};
        if (p.steps() > 0) {
          tensor_memory::ld<tensor_memory::Shape32x32b>(bits, from + (first + i) * STRIP);
          tensor_memory::wait_ld();
        }
        round_strip(smem.strip[i][threadIdx.x], bits, tile.row * BM + threadIdx.x,
                    tile.column * BN + (first + i) * STRIP);
      }
      if (first + BUFFERS == BN / STRIP && p.steps() > 0) {
        tcgen05::fence_before();
        __syncwarp();
        if (threadIdx.x % 32 == 0) smem.drained[tiles.slot].arrive_release_at(0);
      }
      tma::fence();
      sync(1, kStoreThreads);
#pragma unroll
      for (int i = 0; i < BUFFERS; ++i)
        store_strip<kStoreThreads>(D, smem.strip[i], {p.m, p.n}, tile.row * BM, tile.column * BN + (first + i) * STRIP);
    }
  }
  if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

__device__ inline void sync_pair() {
  if constexpr (PAIR == 1)
    __syncthreads();
  else
    cluster::sync();
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm(const __grid_constant__ CUtensorMap A,
                                                              const __grid_constant__ CUtensorMap B,
                                                              const __grid_constant__ Mapped<O, 2> D, const Dims dims) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Smem& smem = *reinterpret_cast<Smem*>(raw);
  const Problem problem = {static_cast<int>(dims.M), static_cast<int>(dims.N), static_cast<int>(dims.K)};
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      smem.full[i].init(1);
      smem.empty[i].init(1);
    }
    for (int i = 0; i < kAccumulators; ++i) {
      smem.ready[i].init(1);
      smem.drained[i].init(PAIR * kStoreThreads / 32);
    }
    fence_barrier_init();
  }
  if (warp == kMultiplyWarp) {
    tensor_memory::alloc<kColumns, PAIR>(&smem.accumulators);
    tensor_memory::relinquish_alloc_permit<PAIR>();
  }
  sync_pair();
  const u32 accumulators = smem.accumulators;

  if (warp < kLoadWarp)
    store(smem, D, problem, accumulators);
  else if (warp == kLoadWarp && lane == 0)
    produce(smem, A, B, problem);
  else if (warp == kMultiplyWarp && lane == 0 && problem.rank() == 0)
    multiply(smem, problem, accumulators);
  __syncwarp();

  // No block leaves, or frees tensor memory, while the pair still multiplies or signals its barriers.
  sync_pair();
  if (warp == kMultiplyWarp) tensor_memory::dealloc<kColumns, PAIR>(accumulators);
}

#endif

//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation"
//! arch    sm_90a
//!
//! type    T      = bf16  in {bf16, f16, e4m3, e5m2} "elements of A and B"
//! type    O      = bf16  in {bf16, f16, f32}       "elements of D"
//! dim     M, N, K in 0..2147483647
//!
//! param   BM      = 128  in {64, 128, 192}         "rows of D per block: one consumer warpgroup per 64"
//! param   BN      = 256  in {64, 96, 128, 160, 192, 256} "columns of D per block"
//! param   STAGES  = 4    in 2..8                   "tiles of A and B in flight"
//! param   CLUSTER = 1    in {1, 2}                 "blocks, one below the other, that share each tile of B by multicast"
//! param   FAST    = 0    in {0, 1}                 "8-bit types: 1 leaves whole sums to wgmma, which keeps 14 bits of them; 0 adds every 128 products in f32"
//! param   BAND    = 16   in {1, 2, 4, 8, 16}       "tile rows visited together, for L2 reuse"
//!
//! let     BK        = 128 / sizeof(T)              "one 128-byte swizzle row"
//! let     CONSUMERS = BM / 64
//! let     THREADS   = 128 * (CONSUMERS + 1)
//! let     PROMOTED  = sizeof(T) == 1 && FAST == 0
//! let     SUMS      = BN / 2 * (1 + 2 * PROMOTED)  "registers of a thread"
//! let     STRIP     = 128 / sizeof(O)              "columns of D in one 128-byte swizzle row"
//! let     BUFFERS   = BN / STRIP % 2 == 0 ? 2 : 1  "strips stored together"
//! let     SMEM      = align_up(STAGES * (BM + BN) * 128 + CONSUMERS * BUFFERS * 64 * 128 + 16 * STAGES, 1024)
//! let     TILES     = ceil_div(M, BM * CLUSTER) * ceil_div(N, BN) "tiles of a whole cluster"
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count / CLUSTER))
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require CONSUMERS * (SUMS + 40) <= 480 && SUMS <= 200 "accumulators must fit in registers"
//! require FAST == 0 || sizeof(T) == 1              "only sums of 8-bit products can be cut short"
//! require BN % STRIP == 0                          "a block stores whole strips"
//! require BN / CLUSTER % 8 == 0                    "each block of a cluster loads whole swizzle atoms of B"
//!
//! tensor  A : T[M, K]    box [BM, BK]            swizzle 128  l2 256
//! tensor  B : T[N, K]    box [BN / CLUSTER, BK]  swizzle 128  l2 256
//! tensor  D : O[M, N]    box [64, STRIP]         swizzle 128  out  view
//!
//! hook    epilogue(f32 x, s32 row, s32 column) : f32 = x    "applied to each element of the product before it is rounded"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(TILES, WAVES) * CLUSTER  block THREADS  smem SMEM
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256  bits sizeof(T) > 1 ? 0 : PROMOTED ? 9 : K <= 1024 ? 7 : K <= 8192 ? 5 : 3
//!
//! preset  BM = 64, BN = 128, STAGES = 8   when ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  BM = 128, BN = 128, STAGES = 6  when ceil_div(M, 128) * ceil_div(N, 256) <= device.sm_count / 2
//! preset  BM = 128, BN = 256, STAGES = 4
//! preset  BM = 128, BN = 128, STAGES = 6

#include "device/barrier.cuh"
#include "device/cluster.cuh"
#include "device/gemm_problem.cuh"
#include "device/gemm_reference.cuh"
#include "device/named_barrier.cuh"
#include "device/strip.cuh"
#include "device/tma.cuh"
#include "device/warpgroup.cuh"
#include "device/wgmma.cuh"

#ifndef TMA_JIT_REFERENCE

using Problem = GemmProblem<CLUSTER>;
using Mma = wgmma::Mma<BN, T>;

struct Smem {
  alignas(1024) T a[STAGES][BM][BK];
  alignas(1024) T b[STAGES][BN][BK];
  alignas(1024) O strip[CONSUMERS][BUFFERS][64][STRIP];
  Barrier full[STAGES], empty[STAGES];
};
static_assert(sizeof(Smem) == SMEM);

// One thread of the producer warpgroup keeps the ring of A and B tiles full. Invariant: slot `ring.slot` is filled only
// after every consumer of every block of the cluster has released it, because B arrives in all of them.
__device__ void produce(Smem& smem, const CUtensorMap& A, const CUtensorMap& B, Problem p) {
  constexpr int kShare = BN / CLUSTER;
  const int rank = p.rank();
  Ring<STAGES> ring;
  for (int index = p.first(); index < p.tiles(); index += p.stride()) {
    const Tile tile = p.tile(index, rank);
    for (int step = 0; step < p.steps(); ++step, ring.advance()) {
      Barrier& full = smem.full[ring.slot];
      if constexpr (CLUSTER == 1)
        smem.empty[ring.slot].wait(ring.phase ^ 1);
      else
        smem.empty[ring.slot].wait_relaxed(ring.phase ^ 1);
      full.expect(sizeof(smem.a[0]) + sizeof(smem.b[0]));
      tma::load(smem.a[ring.slot], A, full, step * BK, tile.row * BM);
      T* share = smem.b[ring.slot][rank * kShare];
      const int row = tile.column * BN + rank * kShare;
      if constexpr (CLUSTER == 1)
        tma::load(share, B, full, step * BK, row);
      else
        tma::load_multicast(share, B, full, (1 << CLUSTER) - 1, step * BK, row);
    }
  }
}

// Called by every thread of a consumer warpgroup once it no longer reads the slot.
__device__ inline void release(Barrier& empty) {
  const int thread = threadIdx.x % kWarpgroup;
  if constexpr (CLUSTER == 1) {
    if (thread == 0) empty.arrive();
  } else {
    if (thread < CLUSTER) empty.arrive_at(thread);
  }
}

// Start the products of one slot: its 64 rows of A for this warpgroup with its B. The first overwrites acc where not
// `onto`.
__device__ inline void multiply(const Smem& smem, int slot, int group, bool onto, f32 (&acc)[Mma::registers]) {
  wgmma::fence();
  const u64 a = wgmma::descriptor(smem.a[slot][group * 64]);
  const u64 b = wgmma::descriptor(smem.b[slot]);
#pragma unroll
  for (int k = 0; k < BK; k += Mma::kDepth) Mma::ss(acc, a + k * sizeof(T) / 16, b + k * sizeof(T) / 16, onto || k > 0);
  wgmma::commit();
}

// Accumulate this warpgroup's 64 rows of one tile. The first product of a tile overwrites acc; with no steps (K = 0)
// acc keeps the zeros it was made with.
__device__ void accumulate(Smem& smem, Ring<STAGES>& ring, int steps, int group, f32 (&acc)[Mma::registers]) {
#pragma unroll 1  // unrolled further it is no faster and takes ptxas three times as long
  for (int step = 0; step < steps; ++step, ring.advance()) {
    smem.full[ring.slot].wait(ring.phase);
    multiply(smem, ring.slot, group, step > 0, acc);
    wgmma::wait<0>();
    release(smem.empty[ring.slot]);
  }
}

// The same for 8-bit types, whose sums wgmma keeps to 14 bits: each step has sums of its own, and while the tensor
// cores make one step's, those of the step before are added in f32.
class Promotion {
 public:
  __device__ Promotion(Smem& smem, Ring<STAGES>& ring, int group)
      : smem_(smem), next_(ring), done_(ring), group_(group) {}

  // Waits and products stand in a row, with no branch between: else ptxas lets every product wait for the one before.
  __device__ void accumulate(int steps, f32 (&acc)[Mma::registers]) {
#pragma unroll
    for (f32& sum : acc) sum = 0;
    if (steps == 0) return;
    f32 even[Mma::registers], odd[Mma::registers];
    start(even);
    int left = steps;
#pragma unroll 1
    for (; left > 2; left -= 2) {
      start(odd);
      finish<1>(even, acc);
      start(even);
      finish<1>(odd, acc);
    }
    if (left == 2) {
      start(odd);
      finish<1>(even, acc);
      finish<0>(odd, acc);
    } else {
      finish<0>(even, acc);
    }
  }

 private:
  __device__ void start(f32 (&part)[Mma::registers]) {
    smem_.full[next_.slot].wait(next_.phase);
    multiply(smem_, next_.slot, group_, false, part);
    next_.advance();
  }

  template <int Pending> __device__ void finish(f32 (&part)[Mma::registers], f32 (&acc)[Mma::registers]) {
    wgmma::wait<Pending>();
    release(smem_.empty[done_.slot]);
    done_.advance();
#pragma unroll
    for (int i = 0; i < Mma::registers; ++i) acc[i] += part[i];
  }

  Smem& smem_;
  Ring<STAGES>& next_;
  Ring<STAGES> done_;
  int group_;
};

// Round one strip of the accumulators into its buffer in shared memory.
__device__ inline void round_strip(Smem& smem, Tile tile, int group, int strip, const f32 (&acc)[Mma::registers]) {
  const int warp = threadIdx.x % kWarpgroup / 32, lane = threadIdx.x % 32;
  const int row = tile.row * BM + group * 64 + warp * 16 + lane / 4,
            column = tile.column * BN + strip * STRIP + lane % 4 * 2;
  f32 x[STRIP / 2];
#pragma unroll
  for (int i = 0; i < STRIP / 2; ++i)
    x[i] = epilogue(acc[strip * STRIP / 2 + i], row + i / 2 % 2 * 8, column + i / 4 * 8 + i % 2);
  store_fragment<O>(smem.strip[group][strip % BUFFERS], warp * 16, 0, x);
}

// Store the accumulators BUFFERS strips at a time. The TMA writes them out while the next strips are rounded and the
// next tile is accumulated. Invariant at each barrier: first, the buffers are free; second, they are whole.
__device__ void store(Smem& smem, const Mapped<O, 2>& D, Problem p, Tile tile, int group,
                      const f32 (&acc)[Mma::registers]) {
  const int row = tile.row * BM + group * 64;
#pragma unroll
  for (int first = 0; first < BN / STRIP; first += BUFFERS) {
    if (threadIdx.x % kWarpgroup == 0) tma::wait_read<0>();
    sync(1 + group, kWarpgroup);
#pragma unroll
    for (int i = 0; i < BUFFERS; ++i) round_strip(smem, tile, group, first + i, acc);
    tma::fence();
    sync(1 + group, kWarpgroup);
#pragma unroll
    for (int i = 0; i < BUFFERS; ++i)
      store_strip<kWarpgroup>(D, smem.strip[group][i], {p.m, p.n}, row, tile.column * BN + (first + i) * STRIP);
  }
}

__device__ void consume(Smem& smem, const Mapped<O, 2>& D, Problem p) {
  const int group = threadIdx.x / kWarpgroup, rank = p.rank();
  Ring<STAGES> ring;
  f32 acc[Mma::registers] = {};
  for (int index = p.first(); index < p.tiles(); index += p.stride()) {
    if constexpr (PROMOTED)
      Promotion(smem, ring, group).accumulate(p.steps(), acc);
    else
      accumulate(smem, ring, p.steps(), group, acc);
    store(smem, D, p, p.tile(index, rank), group, acc);
  }
  if (threadIdx.x % kWarpgroup == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void gemm(const __grid_constant__ CUtensorMap A,
                                                              const __grid_constant__ CUtensorMap B,
                                                              const __grid_constant__ Mapped<O, 2> D, const Dims dims) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Smem& smem = *reinterpret_cast<Smem*>(raw);
  const Problem problem = {static_cast<int>(dims.M), static_cast<int>(dims.N), static_cast<int>(dims.K)};

  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      smem.full[i].init(1);
      smem.empty[i].init(CONSUMERS * CLUSTER);
    }
    fence_barrier_init();
  }
  if constexpr (CLUSTER == 1)
    __syncthreads();
  else
    cluster::sync();

  if (threadIdx.x >= CONSUMERS * kWarpgroup) {
    give_registers<40>();
    if (threadIdx.x == CONSUMERS * kWarpgroup) produce(smem, A, B, problem);
    __syncwarp();
  } else {
    take_registers<CONSUMERS == 1 ? 240 : CONSUMERS == 2 ? 232 : 152>();
    consume(smem, D, problem);
    __syncwarp();
  }
  if constexpr (CLUSTER > 1) cluster::sync();  // no block leaves while a neighbour may still signal its barriers
}

#endif

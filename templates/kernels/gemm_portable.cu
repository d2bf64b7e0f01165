//! kernel  gemm     "D[M,N] = epilogue(A[M,K] * B[N,K]^T), f32 accumulation"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = bf16  in {bf16, f16}            "elements of A and B"
//! type    O      = bf16  in {bf16, f16, f32}       "elements of D"
//! dim     M, N, K in 0..2147483647
//!
//! param   BM      = 128  in {64, 128, 256}         "rows of D per block"
//! param   BN      = 256  in {64, 128, 256}         "columns of D per block"
//! param   BK      = 32   in {32, 64}               "columns of A and B per step: one swizzle row of 64 or 128 bytes"
//! param   WM      = 64   in {32, 64}               "rows of D per warp"
//! param   WN      = 64   in {32, 64}               "columns of D per warp"
//! param   STAGES  = 3    in 2..8                   "tiles of A and B in flight"
//! param   BAND    = 8    in {1, 4, 8, 16}          "tile rows visited together, for L2 reuse"
//!
//! let     WARPS_N   = BN / WN
//! let     WARPS     = BM / WM * WARPS_N            "warps that multiply; a warpgroup more loads"
//! let     THREADS   = 32 * WARPS + 128
//! let     STRIP     = 128 / sizeof(O)              "columns of D stored at a time"
//! let     SMEM      = align_up(STAGES * (BM + BN) * BK * sizeof(T) + BM * 128 + 16 * STAGES, 1024)
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! let     WAVES     = max(1, ceil_div(TILES, device.sm_count))
//!
//! require SMEM <= device.smem_per_block            "the pipeline must fit in shared memory"
//! require WARPS == 4 || WARPS == 8                 "registers are traded between whole warpgroups"
//! require WM * WN / 32 + WM / 2 + WN / 2 + 40 <= (WARPS == 8 ? 232 : 255) "accumulators and fragments must fit in registers"
//! require BN % STRIP == 0                          "a block stores whole strips"
//!
//! tensor  A : T[M, K]    box [BM, BK]     swizzle BK * sizeof(T)  l2 256
//! tensor  B : T[N, K]    box [BN, BK]     swizzle BK * sizeof(T)  l2 256
//! tensor  D : O[M, N]    box [BM, STRIP]  swizzle 128  out  view
//!
//! hook    epilogue(f32 x, s32 row, s32 column) : f32 = x    "applied to each element of the product before it is rounded"
//!
//! launch  grid ceil_div(TILES, WAVES)  block THREADS  smem SMEM
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T) + M * N * sizeof(O)
//! reference gemm_reference  grid min(ceil_div(M * N, 4096), 65536)  block 256
//!
//! preset  BM = 64, BN = 64, WM = 32, WN = 32, STAGES = 8   when ceil_div(M, 128) * ceil_div(N, 128) <= device.sm_count / 2
//! preset  BM = 128, BN = 128, WM = 64, WN = 32, STAGES = 5  when ceil_div(M, 128) * ceil_div(N, 256) <= device.sm_count / 2
//! preset  BM = 128, BN = 256, WM = 64, WN = 64, STAGES = 3

#include "device/barrier.cuh"
#include "device/fragment.cuh"
#include "device/gemm_problem.cuh"
#include "device/gemm_reference.cuh"
#include "device/named_barrier.cuh"
#include "device/strip.cuh"
#include "device/tma.cuh"
#include "device/warpgroup.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(1024) T a[STAGES][BM][BK];
  alignas(1024) T b[STAGES][BN][BK];
  alignas(1024) O strip[BM][STRIP];
  Barrier full[STAGES], empty[STAGES];
};
static_assert(sizeof(Smem) == SMEM);

using Problem = GemmProblem<1>;
using Accumulators = f32[WM / 16][WN / 8][4];

// One thread keeps the ring of A and B tiles full. Invariant: a slot is filled only after every warp has released it.
__device__ void produce(Smem& smem, const CUtensorMap& A, const CUtensorMap& B, Problem p) {
  Ring<STAGES> ring;
  for (int index = p.first(); index < p.tiles(); index += p.stride()) {
    const Tile tile = p.tile(index);
    for (int step = 0; step < p.steps(); ++step, ring.advance()) {
      Barrier& full = smem.full[ring.slot];
      smem.empty[ring.slot].wait(ring.phase ^ 1);
      full.expect(sizeof(smem.a[0]) + sizeof(smem.b[0]));
      tma::load(smem.a[ring.slot], A, full, step * BK, tile.row * BM);
      tma::load(smem.b[ring.slot], B, full, step * BK, tile.column * BN);
    }
  }
}

// What one k16 step of a warp multiplies.
struct Fragments {
  mma::FragmentA a[WM / 16];
  mma::FragmentB b[WN / 8];

  __device__ void load(Smem& smem, int slot, int row, int column, int k) {
    constexpr int kRowBytes = BK * sizeof(T);
    const u32 a_row = smem_address(smem.a[slot]) + (mma::offset_a<kRowBytes>(row) ^ k * 2),
              b_row = smem_address(smem.b[slot]) + (mma::offset_b<kRowBytes>(column) ^ k * 2);
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) a[i] = mma::load_a(a_row + i * 16 * kRowBytes);
#pragma unroll
    for (int j = 0; j < WN / 8; j += 2) mma::load_b(b_row + j * 8 * kRowBytes, b[j], b[j + 1]);
  }
  __device__ void multiply(Accumulators& acc) const {
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
#pragma unroll
      for (int j = 0; j < WN / 8; ++j) mma::multiply<T>(acc[i][j], a[i], b[j]);
  }
};

// Called by every lane once the warp no longer reads the slot. The fence orders its ldmatrix reads before the copy that
// refills the slot.
__device__ inline void release(Barrier& empty) {
  tma::fence();
  __syncwarp();
  if (threadIdx.x % 32 == 0) empty.arrive();
}

// Invariant: while one k16 step is multiplied the fragments of the next are on their way, across slots too.
__device__ void accumulate(Smem& smem, Ring<STAGES>& ring, int steps, int row, int column, Accumulators& acc) {
  static_assert(BK / 16 % 2 == 0);
#pragma unroll
  for (auto& blocks : acc)
#pragma unroll
    for (auto& block : blocks)
#pragma unroll
      for (f32& x : block) x = 0.0f;
  if (steps == 0) return;
  Fragments fragments[2];
  smem.full[ring.slot].wait(ring.phase);
  fragments[0].load(smem, ring.slot, row, column, 0);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int slot = ring.slot;
    ring.advance();
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      Fragments& next = fragments[(k / 16 + 1) % 2];
      if (k + 16 < BK) {
        next.load(smem, slot, row, column, k + 16);
      } else if (step + 1 < steps) {
        smem.full[ring.slot].wait(ring.phase);
        next.load(smem, ring.slot, row, column, 0);
      }
      fragments[k / 16 % 2].multiply(acc);
    }
    release(smem.empty[slot]);
  }
}

// Columns of this warp that fall into one strip.
constexpr int kPart = WN < STRIP ? WN : STRIP;

// Round the warp's columns [part, part + kPart) into the strip that holds them.
__device__ inline void round_part(Smem& smem, Tile tile, int row, int column, int part, const Accumulators& acc) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
    f32 x[kPart / 2];
#pragma unroll
    for (int e = 0; e < kPart / 2; ++e)
      x[e] = epilogue(acc[i][part / 8 + e / 4][e % 4], tile.row * BM + row + i * 16 + lane / 4 + e / 2 % 2 * 8,
                      tile.column * BN + column + part + e / 4 * 8 + lane % 4 * 2 + e % 2);
    store_fragment<O, kPart>(smem.strip, row + i * 16, (column + part) % STRIP, x);
  }
}

// Strip by strip: the warps whose columns a strip covers round them into shared memory, then the strip is stored.
// Invariant at each barrier: first, the strip is free; second, it is whole.
__device__ void store(Smem& smem, const Mapped<O, 2>& D, Problem p, Tile tile, int row, int column,
                      const Accumulators& acc) {
#pragma unroll 1
  for (int strip = 0; strip < BN / STRIP; ++strip) {
    if (threadIdx.x == 0) tma::wait_read<0>();
    sync(1, WARPS * 32);
#pragma unroll
    for (int part = 0; part < WN; part += kPart) {
      if ((column + part) / STRIP == strip) round_part(smem, tile, row, column, part, acc);
    }
    tma::fence();
    sync(1, WARPS * 32);
    store_strip<WARPS * 32>(D, smem.strip, {p.m, p.n}, tile.row * BM, tile.column * BN + strip * STRIP);
  }
}

__device__ void consume(Smem& smem, const Mapped<O, 2>& D, Problem p) {
  const int warp = threadIdx.x / 32, row = warp / WARPS_N * WM, column = warp % WARPS_N * WN;
  Ring<STAGES> ring;
  Accumulators acc;
  for (int index = p.first(); index < p.tiles(); index += p.stride()) {
    accumulate(smem, ring, p.steps(), row, column, acc);
    store(smem, D, p, p.tile(index), row, column, acc);
  }
  if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
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
      smem.empty[i].init(WARPS);
    }
    fence_barrier_init();
  }
  __syncthreads();

  if (threadIdx.x >= WARPS * 32) {
    if constexpr (WARPS == 8) give_registers<40>();
    if (threadIdx.x == WARPS * 32) produce(smem, A, B, problem);
  } else {
    if constexpr (WARPS == 8) take_registers<232>();
    consume(smem, D, problem);
  }
}

#endif

//! kernel  attention_ragged_backward "the gradients of attention_ragged: of sequences of different lengths that lie one after the other, CU[b] queries and CUK[b] keys before sequence b"
//! arch    sm_90a
//! use     "device/reference/attention_ragged_backward.cuh"
//!
//! param   ATOMIC  = 0     in {0, 1} asked          "1: DQ may be summed in any order, which is faster; its last bits may then differ from launch to launch"
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   TILE    = 128   in {64, 96, 128}         "keys of a tile"
//! param   STAGES  = 2     in 2..4                  "steps of queries in flight or in use"
//! param   RESULTS = 2     in 2..4                  "steps of the gradients of their results"
//!
//! let     WIDE    = HD > 128                       "consumer warpgroups share a tile's keys, and have some of the columns each"
//! let     BOX     = TILE == 96 ? 96 : 64           "of them that are loaded at a time"
//! let     SIZE    = HD <= 64 ? 64 : HD <= 128 ? 128 : HD "elements of a head in shared memory"
//! let     VALUE_SIZE = HV <= 64 && !WIDE ? 64 : HV <= 128 ? 128 : HV
//! let     STEP    = HD <= 64 ? 128 : 64            "queries of a step"
//! let     SHARES  = max(2, SIZE / 64)              "of 64 x 64 elements of their gradients, which a consumer sums"
//! let     THREADS = 384
//! let     QUERIES = STEP * (SIZE * sizeof(T) + 4)  "bytes of a step of queries"
//! let     VALUES  = STEP * (VALUE_SIZE * sizeof(T) + 4) "bytes of a step of the gradients of results"
//! let     BETWEEN = TILE == 64 ? 0 : ATOMIC == 1 || SIZE != 128 ? 8192 : 32896 "bytes of sums on their way"
//! let     OWN     = TILE * (SIZE + VALUE_SIZE + (WIDE ? 4 : 3) * STEP) * sizeof(T) + BETWEEN
//! let     SMEM    = align_up(OWN + STAGES * (QUERIES + 16) + RESULTS * (VALUES + 16) + 640, 1024)
//! let     STEPS   = HEADS * (M / STEP + BATCH)     "places of the sequences' steps"
//! let     TILES   = BATCH == 0 ? 0 : KV_HEADS * (N / TILE + BATCH) "places of their tiles"
//!
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require (TILE == 128) == (HD <= 128)             "a tile has 128 keys of heads of at most 128 elements, and fewer of others"
//! require TILE != 96 || HD == 192 && HV <= 128 && given(score) == 0 "the sums of 96 keys, and what a score needs, must fit in registers"
//! require alignment(DQ) >= 16 && alignment(DK) >= 16 && alignment(DV) >= 16 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 0) % 8 == 0 && stride(DK, 0) % 8 == 0 && stride(DV, 0) % 8 == 0 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 1) % 8 == 0 && stride(DK, 1) % 8 == 0 && stride(DV, 1) % 8 == 0 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 2) == 1 && stride(DK, 2) == 1 && stride(DV, 2) == 1 "elements of a row are neighbours"
//!
//! tensor  Q   box [64, 1, 64]  swizzle 128  l2 256
//! tensor  K   box [BOX, 1, 64]  swizzle 128  l2 256
//! tensor  V   box [BOX, 1, 64]  swizzle 128  l2 256
//! tensor  DO  box [64, 1, 64]  swizzle 128  l2 256
//!
//! workspace sums     STEPS * SHARES * 16384  zero           "of DQ, as the consumers' registers hold them"
//! workspace counters (1 + 2 * BATCH * KV_HEADS) * 4  zero  "items that have been drawn; shares of tiles added and pieces rounded, of each head of keys"
//! workspace ranks    ATOMIC == 1 ? 0 : STEPS * 8  zero "tiles that have been added to the sums of a step"
//!
//! launch  grid min(device.sm_count, TILES)  block THREADS  smem SMEM
//! work    flops HEADS * M * (N / max(1, BATCH)) * (6 * HD + 4 * HV) / (1 + CAUSAL)  bytes ((2 * HEADS * M + 2 * KV_HEADS * N) * HD + (HEADS * M + 2 * KV_HEADS * N) * HV) * sizeof(T) + 8 * HEADS * M * (1 + HD)
//! reference attention_ragged_backward_reference  grid 1024  block 256  bits 3
//!
//! preset  HD = 64, STAGES = 3      when HD == 64
//! preset  HD = 192, VD = 128, TILE = 96, STAGES = 3  when HD == 192 && VD == 128 && given(score) == 0
//! preset  HD = 192, VD = 64, TILE = 96, STAGES = 3  when HD == 192 && VD == 64 && given(score) == 0
//! preset  HD = 192, TILE = 64, STAGES = 3  when HD == 192
//! preset  HD = 256, TILE = 64, STAGES = 2  when HD == 256
//! preset  STAGES = 3, RESULTS = 3  when HD != 64
//! preset  STAGES = 3
//! preset  STAGES = 2

#include "device/epilogue/round_sums.cuh"
#include "device/pipeline/attention_backward_consumers_wgmma.cuh"
#include "device/reference/attention_ragged_backward.cuh"
#include "device/schedule/attention_ragged_backward.cuh"

#ifndef TMA_JIT_REFERENCE

using Smem = BackwardSmem<RaggedGradientItems<TILE, STEP>>;
static_assert(sizeof(Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_ragged_backward(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    const __grid_constant__ CUtensorMap DO, View<const s32, 1> CU, View<const s32, 1> CUK, View<const f32, 2> L,
    View<const f32, 2> DELTA, View<T, 3> DQ, View<T, 3> DK, View<T, 3> DV, u8* sums, u8* counters, u8* ranks, f32 scale,
    const Dims dims, const __grid_constant__ Hooks hooks) {
  auto& smem = shared_memory<Smem>();
  if (threadIdx.x == 0) smem.init(dims, CU, CUK);
  __syncthreads();
  const auto rows_of = [&](const SumsPiece& piece) {
    return [&, first = s64{piece.row} * DQ.stride[0]](int head) {
      return View<T, 2>{DQ.data + first + head * DQ.stride[1], {DQ.stride[0], 1}};
    };
  };
  const QuerySums to(sums, counters, ranks);
  const SumsRounder<SIZE, kOrdered, decltype(rows_of)> round = {to, scale, HD, rows_of};
  make_gradients<GradientsBy>(smem, {Q, K, V, DO, L, DELTA}, round, DK, DV, to, scale, dims, hooks, OwnSearch(hooks));
}

#endif

//! kernel  attention_backward "the gradients of O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours: DQ, DK and DV from DO"
//! arch    sm_90a
//! use     "device/reference/attention_backward.cuh"
//!
//! param   ATOMIC  = 0     in {0, 1} asked          "1: DQ may be summed in any order, which is faster; its last bits may then differ from launch to launch"
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   TILE    = 128   in {64, 96, 128}         "keys of a tile"
//! param   STAGES  = 2     in 2..4                  "steps of queries in flight or in use"
//! param   RESULTS = 2     in 2..4                  "steps of the gradients of their results"
//! param   WRAP    = 0     in {0, 1}                "1: a head's tiles begin at different steps and go round, so that none waits until others have begun; a step then has two sums"
//! param   SPLIT   = 1     in {1, 2, 4, 8}          "blocks that share a tile, each of which has some of the heads that share its keys, or of its steps, and leaves f32 sums of DK and DV"
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
//! let     SUMS    = 1 + WRAP                       "of a step of DQ"
//! let     STEPS   = HEADS * ceil_div(M, STEP)
//! let     SHARED  = HEADS / max(1, KV_HEADS)       "heads that share keys"
//! let     KEYS    = KV_HEADS * ceil_div(N, TILE)   "tiles of keys"
//! let     UNEVEN  = CAUSAL + given(mask) > 0       "tiles do not all see the same steps"
//! let     STEEP   = CAUSAL && N >= 2048            "tiles of a head differ much in their steps"
//! let     EIGHT   = SHARED >= 8 && WIDE == 0 && 8 * KEYS <= device.sm_count * (1 + UNEVEN)
//! let     FOURS   = UNEVEN == 0 ? (SHARED >= 8 ? 2 : 1) : STEEP && SHARED >= 7 && SIZE > 64 ? 8 : SHARED >= 7 && (CAUSAL || WIDE == 0) || STEEP && SIZE == 128 ? 4 : 2 "blocks for each SM, at most, so that four share a tile"
//! let     TWOS    = UNEVEN == 0 ? (WIDE && SHARED >= 2 ? 4 : 1) : SHARED >= 7 ? (CAUSAL ? 16 : 8) : WIDE ? (SHARED >= 4 ? 8 : 2) : SIZE == 128 ? (STEEP && SHARED >= 3 ? 8 : 4) : CAUSAL == 0 || SHARED < 4 ? 4 : SHARED == 4 ? 2 : 8 "likewise for two"
//! let     FOUR    = SHARED >= 4 && 4 * KEYS <= device.sm_count * FOURS
//! let     TWO     = (SHARED >= 2 || SIZE == 128 && UNEVEN == 0) && 2 * KEYS <= device.sm_count * TWOS
//! let     BLOCKS  = TILE == 96 ? 1 : EIGHT ? 8 : FOUR ? 4 : TWO ? 2 : 1 "that share a tile, so that all SMs have work"
//! let     TILES   = KEYS * SPLIT
//! let     SUMMED  = HEADS * M * SIZE               "elements of DQ"
//! let     HELD    = SUMMED <= (SHARED <= 2 * SPLIT ? 9000000 : 6000000) "L2 has room for two sums of each"
//! let     WAVES   = TILES <= device.sm_count ? N > 2 * TILE : SHARED > 1 ? WIDE && SPLIT > 1 : SIZE == 128 ? TILES <= 3 * device.sm_count && N >= 8 * TILE && SUMMED <= 6000000 : WIDE && TILE != 96 && TILES <= 2 * device.sm_count && N >= 16 * TILE "a head's tiles begin at about the same time, all or in few waves"
//! let     FEW     = UNEVEN == 0 && ATOMIC == 0 && M > STEP && HELD && WAVES "tiles would wait for each other"
//!
//! require sizeof(T) == 2                           "numbers of 16 bits"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require (TILE == 128) == (HD <= 128)             "a tile has 128 keys of heads of at most 128 elements, and fewer of others"
//! require TILE != 96 || HD == 192 && HV <= 128 && given(score) == 0 "the sums of 96 keys, and what a score needs, must fit in registers"
//! require WRAP == 0 || ATOMIC == 0 && CAUSAL == 0 && given(mask) == 0 "tiles go round whose order is fixed and that all visit the same steps"
//! require SPLIT == 1 || TILE != 96 && (given(mask) == 0 || SHARED >= SPLIT) "tiles are shared whose results are stored from registers, by heads, or by steps if all see them"
//! require alignment(DQ) >= 16 && alignment(DK) >= 16 && alignment(DV) >= 16 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 0) % 8 == 0 && stride(DK, 0) % 8 == 0 && stride(DV, 0) % 8 == 0 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 1) % 8 == 0 && stride(DK, 1) % 8 == 0 && stride(DV, 1) % 8 == 0 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 2) == 1 && stride(DK, 2) == 1 && stride(DV, 2) == 1 "elements of a row are neighbours"
//!
//! tensor  Q   box [1, 64, 64]  swizzle 128  l2 256
//! tensor  K   box [1, BOX, 64]  swizzle 128  l2 256
//! tensor  V   box [1, BOX, 64]  swizzle 128  l2 256
//! tensor  DO  box [1, 64, 64]  swizzle 128  l2 256
//!
//! workspace sums     STEPS * SUMS * SHARES * 16384  zero  "of DQ, as the consumers' registers hold them"
//! workspace counters (1 + 2 * KV_HEADS) * 4  zero  "items that have been drawn; shares of tiles added and pieces rounded, of each head of keys"
//! workspace ranks    ATOMIC == 1 ? 0 : STEPS * SUMS * 8  zero "tiles that have been added to the sums of a step"
//! workspace parts    SPLIT == 1 ? 0 : SPLIT * KV_HEADS * N * (HD + HV) * 4  "sums of DK and DV"
//! workspace stored   SPLIT == 1 ? 0 : 8 * KV_HEADS  zero "warps that have stored such sums, and pieces rounded, of each head of keys"
//! workspace searched given(mask) == 1 ? 12 : 0  zero "of KeySearch"
//! workspace steps    given(mask) == 1 ? 8 * ceil_div(N, TILE) * ceil_div(ceil_div(M, STEP), 32) : 0  "that the mask leaves"
//!
//! launch  grid min(device.sm_count, max(TILES, KV_HEADS))  block THREADS  smem SMEM
//! work    flops HEADS * M * N * (6 * HD + 4 * HV) / (1 + CAUSAL)  bytes ((2 * HEADS * M + 2 * KV_HEADS * N) * HD + (HEADS * M + 2 * KV_HEADS * N) * HV) * sizeof(T) + 8 * HEADS * M * (1 + HD)
//! reference attention_backward_reference  grid min(HEADS * M + KV_HEADS * N, 65536)  block 256  bits 3
//!
//! preset  HD = 64, STAGES = 3, SPLIT = {1, 2, 4, 8}, WRAP = {0, 1}  when HD == 64 && SPLIT == BLOCKS && WRAP == FEW
//! preset  HD = 192, VD = 128, TILE = 96, STAGES = 3, WRAP = {0, 1}  when HD == 192 && VD == 128 && given(score) == 0 && WRAP == FEW
//! preset  HD = 192, VD = 64, TILE = 96, STAGES = 3  when HD == 192 && VD == 64 && given(score) == 0
//! preset  HD = 192, TILE = 64, STAGES = 3, SPLIT = {1, 2, 4}, WRAP = {0, 1}  when HD == 192 && SPLIT == BLOCKS && WRAP == FEW
//! preset  HD = 256, TILE = 64, STAGES = 2, SPLIT = {1, 2, 4}, WRAP = {0, 1}  when HD == 256 && SPLIT == BLOCKS && WRAP == FEW
//! preset  HD = 128, STAGES = 3, SPLIT = {2, 4, 8}, WRAP = {0, 1}  when HD > 64 && HD <= 128 && SPLIT == BLOCKS && WRAP == FEW
//! preset  HD = 128, STAGES = 3, WRAP = 1  when HD > 64 && HD <= 128 && FEW
//! preset  STAGES = 3, RESULTS = 3  when HD != 64
//! preset  STAGES = 3
//! preset  STAGES = 2

#include "device/epilogue/round_keys.cuh"
#include "device/pipeline/attention_backward_consumers_wgmma.cuh"
#include "device/pipeline/key_search.cuh"
#include "device/reference/attention_backward.cuh"
#include "device/schedule/attention_backward.cuh"

#ifndef TMA_JIT_REFERENCE

using Items = GradientItems<TILE, STEP, kOrdered, WRAP, SPLIT>;
using Smem = BackwardSmem<Items>;
static_assert(sizeof(Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_backward(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const f32, 1> SQ, View<const f32, 1> SK, View<const f32, 1> SV, const __grid_constant__ CUtensorMap DO,
    View<const f32, 2> L, View<const f32, 2> DELTA, View<T, 3> DQ, View<T, 3> DK, View<T, 3> DV, u8* sums, u8* counters,
    u8* ranks, u8* parts, u8* stored, u8* searched, u8* steps, f32 scale, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  auto& smem = shared_memory<Smem>();
  if (threadIdx.x == 0) smem.init(dims);
  const KeySearch<Items::Work> search(dims, hooks, searched, steps);
  search.begin();
  __syncthreads();
  const auto rows_of = [&](const SumsPiece&) {
    return [&](int head) { return View<T, 2>{DQ.data + head * DQ.stride[0], {DQ.stride[1], 1}}; };
  };
  const QuerySums to(sums, counters, ranks);
  const SumsRounder<SIZE, kOrdered, decltype(rows_of), SUMS> round = {to, scale, HD, rows_of};
  const StepMaps from = {Q, K, V, DO, L, DELTA};
  if constexpr (SPLIT == 1) {
    make_gradients<GradientsBy>(smem, from, round, DK, DV, to, scale, dims, hooks, search);
  } else {
    const KeysRounder<SPLIT, decltype(round)> all = {
        round, reinterpret_cast<f32*>(parts), reinterpret_cast<u32*>(stored), DK, DV, dims};
    make_gradients<GradientsBy>(smem, from, all, all.key_parts(), all.value_parts(), to, scale, dims, hooks, search);
  }
}

#endif

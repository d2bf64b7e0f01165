//! kernel  attention_backward "the gradients of O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours: DQ, DK and DV from DO"
//! arch    sm_100a, sm_103a
//! use     "device/reference/attention_backward.cuh"
//!
//! param   ATOMIC  = 0     in {0, 1} asked          "1: DQ may be summed in any order, which is faster; its last bits may then differ from launch to launch"
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   STAGES  = 2     in 2..4                  "steps of queries in flight or in use"
//! param   RESULTS = 2     in 2..4                  "steps of the gradients of their results"
//!
//! let     WIDE    = HD > 128                       "the sums of 128 keys are more than tensor memory has columns for"
//! let     TILE    = WIDE ? 64 : 128                "keys of a tile: a lane of tensor memory each"
//! let     SIZE    = HD <= 64 ? 64 : HD <= 128 ? 128 : HD "elements of a head in shared memory"
//! let     VALUE_SIZE = HV <= 64 && !WIDE ? 64 : HV <= 128 ? 128 : HV
//! let     STEP    = WIDE ? 64 : 128                "queries of a step"
//! let     SHARES  = SIZE * STEP / 4096             "of 64 x 64 elements of their gradients, by which they are summed"
//! let     THREADS = 512
//! let     QUERIES = STEP * (SIZE * sizeof(T) + 4)  "bytes of a step of queries"
//! let     VALUES  = STEP * (VALUE_SIZE * sizeof(T) + 4) "bytes of a step of the gradients of results"
//! let     OWN     = TILE * (SIZE + VALUE_SIZE + (WIDE ? 2 : 1) * STEP) * sizeof(T)
//! let     SMEM    = align_up(OWN + STAGES * (QUERIES + 24) + RESULTS * (VALUES + 24) + 784, 1024)
//! let     STEPS   = HEADS * ceil_div(M, STEP)
//! let     TILES   = KV_HEADS * ceil_div(N, TILE)
//!
//! require sizeof(T) == 2                           "numbers of 16 bits"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require alignment(DQ) >= 16 && alignment(DK) >= 16 && alignment(DV) >= 16 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 0) % 8 == 0 && stride(DK, 0) % 8 == 0 && stride(DV, 0) % 8 == 0 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 1) % 8 == 0 && stride(DK, 1) % 8 == 0 && stride(DV, 1) % 8 == 0 "rows of gradients are stored 16 bytes at a time"
//! require stride(DQ, 2) == 1 && stride(DK, 2) == 1 && stride(DV, 2) == 1 "elements of a row are neighbours"
//!
//! tensor  Q   box [1, 64, 64]  swizzle 128  l2 256
//! tensor  K   box [1, 64, 64]  swizzle 128  l2 256
//! tensor  V   box [1, 64, 64]  swizzle 128  l2 256
//! tensor  DO  box [1, 64, 64]  swizzle 128  l2 256
//!
//! workspace sums     STEPS * SHARES * 16384  zero           "of DQ, as the consumers' registers hold them"
//! workspace counters (1 + 2 * KV_HEADS) * 4  zero  "items that have been drawn; shares of tiles added and pieces rounded, of each head of keys"
//! workspace ranks    ATOMIC == 1 ? 0 : STEPS * 8  zero "tiles that have been added to the sums of a step"
//! workspace searched given(mask) == 1 ? 12 : 0  zero "of KeySearch"
//! workspace steps    given(mask) == 1 ? 8 * ceil_div(N, TILE) * ceil_div(ceil_div(M, STEP), 32) : 0  "that the mask leaves"
//!
//! launch  grid min(device.sm_count, max(TILES, KV_HEADS))  block THREADS  smem SMEM
//! work    flops HEADS * M * N * (6 * HD + 4 * HV) / (1 + CAUSAL)  bytes ((2 * HEADS * M + 2 * KV_HEADS * N) * HD + (HEADS * M + 2 * KV_HEADS * N) * HV) * sizeof(T) + 8 * HEADS * M * (1 + HD)
//! reference attention_backward_reference  grid min(HEADS * M + KV_HEADS * N, 65536)  block 256  bits 3
//!
//! preset  HD = 64, STAGES = 3, RESULTS = 3  when HD <= 64
//! preset  HD = 128                           when HD <= 128
//! preset  HD = 192, STAGES = 3, RESULTS = 3  when HD == 192
//! preset  HD = 256                           when HD == 256

#include "device/epilogue/round_sums.cuh"
#include "device/pipeline/attention_backward_tcgen05.cuh"
#include "device/pipeline/key_search.cuh"
#include "device/reference/attention_backward.cuh"
#include "device/schedule/attention_backward.cuh"

#ifndef TMA_JIT_REFERENCE

using Items = GradientItems<TILE, STEP, kOrdered>;
using Smem = BackwardSmem<Items>;
static_assert(sizeof(Smem) <= SMEM);

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention_backward(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const f32, 1> SQ, View<const f32, 1> SK, View<const f32, 1> SV, const __grid_constant__ CUtensorMap DO,
    View<const f32, 2> L, View<const f32, 2> DELTA, View<T, 3> DQ, View<T, 3> DK, View<T, 3> DV, u8* sums, u8* counters,
    u8* ranks, u8* searched, u8* steps, f32 scale, const Dims dims, const __grid_constant__ Hooks hooks) {
  auto& smem = shared_memory<Smem>();
  const auto rows_of = [&](const SumsPiece&) {
    return [&](int head) { return View<T, 2>{DQ.data + head * DQ.stride[0], {DQ.stride[1], 1}}; };
  };
  const QuerySums to(sums, counters, ranks);
  const SumsRounder<SIZE, kOrdered, decltype(rows_of)> round = {to, scale, HD, rows_of};
  begin(smem, dims);
  const KeySearch<Items::Work> search(dims, hooks, searched, steps);
  search.begin();
  make_gradients(smem, {Q, K, V, DO, L, DELTA}, round, DK, DV, to, scale, dims, hooks, search);
  end(smem);
}

#endif

//! kernel  attention  "O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours"
//! arch    sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/attention.cuh"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192} "elements of a head"
//! param   BN      = 128   in {64, 128}             "keys of a step"
//! param   STAGES  = 2     in {2, 3}                "steps of keys, and of values, in flight or in use"
//! param   PAIR    = 1     in {1, 2}                "blocks that multiply together, each with half of a step's keys and values"
//! param   MULTIPLIED = 10 in {0, 4, 8, 10, 16}     "one of so many powers of two is computed by multiply-adds, as their unit is what the softmax waits for; 0: none"
//!
//! let     ROWS    = 256 * PAIR                     "queries of the blocks that multiply together: two tiles of the 128 lanes of tensor memory of each"
//! let     THREADS = 512
//! let     PANEL   = HD % 64 == 0 ? 64 : 32         "elements of a swizzle row"
//! let     VALUE_PANEL = DV / PAIR % 64 == 0 ? 64 : 32
//! let     RESULT_PANEL = DV % 64 == 0 ? 64 : 32
//! let     SMEM    = align_up((256 * HD + STAGES * BN * (HD + DV) / PAIR) * sizeof(T) + 32 * STAGES + 1536, 1024)
//! let     BLOCKS  = HEADS * ceil_div(M, ROWS) * PAIR
//!
//! require sizeof(T) == 2                           "numbers of 16 bits"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require DV <= HD                                 "a result takes the place of its query"
//! require DV <= 128                                "the scores and results of two tiles must fit in tensor memory"
//! require DV / PAIR % 32 == 0                      "each of the blocks has whole panels of the values"
//! require PAIR == 1 || given(mask) == 0            "blocks that multiply together have the same steps"
//!
//! tensor  Q  box [1, 128, PANEL]  swizzle PANEL * 2
//! tensor  K  box [1, BN / PAIR, PANEL]  swizzle PANEL * 2  l2 256
//! tensor  V  box [1, BN, VALUE_PANEL]  swizzle VALUE_PANEL * 2  l2 256
//! tensor  O  box [1, 128, RESULT_PANEL]  swizzle RESULT_PANEL * 2
//!
//! cluster PAIR
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 2 * HEADS * M * N * (HD + DV) / (1 + CAUSAL)  bytes (HEADS * M + KV_HEADS * N) * (HD + DV) * sizeof(T)
//! reference attention_reference  grid min(HEADS * M, 65536)  block max(128, HD)  bits 4
//!
//! preset  HD = 128, PAIR = 2                         when CAUSAL == 0 && HD <= 128 && M > 1024
//! preset  HD = 64, MULTIPLIED = 4                    when HD <= 128
//! preset  HD = 128, CAUSAL = 1, MULTIPLIED = 16      when HD <= 128
//! preset  HD = 192, VD = 128, BN = 64                when VD == 128

#include "device/epilogue/log_sums.cuh"
#include "device/pipeline/attention_tcgen05.cuh"
#include "device/reference/attention.cuh"
#include "device/schedule/attention.cuh"

#ifndef TMA_JIT_REFERENCE

using Work = AttentionTile<ROWS, BN>;

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const f32, 1> SQ, View<const f32, 1> SK, View<const f32, 1> SV, View<const f32, 1> SINK,
    const __grid_constant__ CUtensorMap O, View<f32, 2> L, f32 scale, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Work work = AttentionOrder<ROWS, BN>(dims)[blockIdx.x / PAIR];
  const int warp = threadIdx.x / 32;
  const bool one = threadIdx.x % 32 == 0;
  if (threadIdx.x == 0) init(smem);
  if (warp == kMultiplyWarp) {
    tensor_memory::alloc<kColumns, PAIR>(&smem.address);
    tensor_memory::relinquish_alloc_permit<PAIR>();
  }
  cluster::sync_blocks<PAIR>();
  tcgen05::fence_after();
  if (warp < kCorrectWarp) {
    take_registers<168>();
    const HeadNumbers numbers = {SQ, SK, SV, SINK, static_cast<int>(dims.SINK_HEADS)};
    weigh(smem, L, work, warp / 4, numbers.sink(work.head), scale, hooks);
  } else if (warp < kMultiplyWarp) {
    give_registers<96>();
    correct(smem, work);
  } else {
    give_registers<80>();
    if (warp == kLoadWarp) {
      load(smem, Q, K, V, work, hooks, dims.N);
    } else if (warp == kMultiplyWarp && one && rank() == 0) {
      multiply(smem, work, !kScoreGiven && scale < 0);
    } else if (warp == kStoreWarp && one) {
      store(smem, O, work);
    }
  }
  __syncwarp();
  tcgen05::fence_before();  // tensor memory must be freed after its last use by any thread
  cluster::sync_blocks<PAIR>();
  if (warp == kMultiplyWarp) tensor_memory::dealloc<kColumns, PAIR>(smem.address);
}

#endif

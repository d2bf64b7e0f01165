//! kernel  attention  "O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/attention.cuh"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   BM      = 64    in {64, 128}             "queries of a block: 16 a warp"
//! param   BN      = 64    in {32, 64}              "keys of a step"
//! param   STAGES  = 2     in {2, 3}                "steps of keys and values in flight or in use"
//!
//! let     WARPS   = BM / 16                        "warps that multiply; one more loads"
//! let     THREADS = 32 * (WARPS + 1)
//! let     PANEL   = HD % 64 == 0 ? 64 : 32         "elements of a swizzle row"
//! let     VALUE_PANEL = DV % 64 == 0 ? 64 : 32
//! let     SMEM    = align_up((BM * HD + STAGES * BN * (HD + DV)) * sizeof(T) + 16 * STAGES + 8, 1024)
//! let     BLOCKS  = HEADS * ceil_div(M, BM)
//!
//! require DV <= HD                             "a result takes the place of its query"
//! require DV + BN <= 288                       "output and scores must fit in registers"
//! require sizeof(T) == 2                       "numbers of 16 bits"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//!
//! tensor  Q  box [1, BM, PANEL]  swizzle PANEL * 2
//! tensor  K  box [1, BN, PANEL]  swizzle PANEL * 2  l2 256
//! tensor  V  box [1, BN, VALUE_PANEL]  swizzle VALUE_PANEL * 2  l2 256
//! tensor  O  box [1, 16, VALUE_PANEL]  swizzle VALUE_PANEL * 2
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 2 * HEADS * M * N * (HD + DV) / (1 + CAUSAL)  bytes (HEADS * M + KV_HEADS * N) * (HD + DV) * sizeof(T)
//! reference attention_reference  grid min(HEADS * M, 65536)  block max(128, HD)  bits 5
//!
//! preset  HD = 64, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 128, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 64, CAUSAL = 1, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 32, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 96, BM = 64, BN = 64, STAGES = 2
//! preset  HD = 192, BM = 64, BN = 32, STAGES = 2                               when VD != 128
//! preset  HD = 192, VD = 128, BM = 64, BN = 32, STAGES = 2
//! preset  HD = 256, BM = 64, BN = 32, STAGES = 2

#include "device/epilogue/log_sums.cuh"
#include "device/pipeline/tma_attention.cuh"
#include "device/reference/attention.cuh"
#include "device/schedule/attention.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/mma_tile.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Work = AttentionTile<BM, BN>;
using Scores = RegisterTile<layout::Mma<16, BN>>;
using Output = RegisterTile<layout::Mma<16, DV>>;
using Queries = SharedTile<T, BM, HD>;
using Results = SharedTile<T, BM, DV>;  // in their place

struct Smem {
  Queries q;
  SharedTile<T, BN, HD> k[STAGES];
  SharedTile<T, BN, DV> v[STAGES];
  Pipeline<STAGES> pipeline;
  Barrier queries;
  PublishedSteps<STAGES, kMaskGiven> published;
};
static_assert(sizeof(Smem) <= SMEM);

// Computes the output of 16 queries. Called by one warp. Loop invariant: before each step, `o` is the sum of the
// weighted values of the steps before, relative to the maximum that `softmax` holds, and the slots of these steps are
// released.
__device__ void consume(Smem& smem, const CUtensorMap& O, const View<f32, 2>& L, const Work& work, f32 sink, f32 scale,
                        const Hooks& hooks) {
  const int row = threadIdx.x / 32 * 16;
  const ScoreHooks<Work> scores = {hooks, work};
  OnlineSoftmax<Scores> softmax(1, sink);
  Output o = {};
  if (kMaskGiven || work.steps > 0) smem.queries.wait(0);
#pragma unroll 1
  for (TileSteps steps(smem.pipeline, smem.published, work.steps); steps.next();) {
    const u32 slot = steps.slot;
    Scores s = {};
    mma::multiply(s, smem.q, row, smem.k[slot]);
    scores.apply(s, scale, row, steps.step() * BN, steps.whole, softmax.kMasked);
    o.map_rows(softmax.weigh(s), [](f32 x, f32 factor) { return x * factor; });
    mma::multiply_rounded(o, s, smem.v[slot]);
    smem.pipeline.release_warp(slot);
  }
  o.map_rows(softmax.inverse_sums(), [](f32 x, f32 factor) { return x * factor; });
  if constexpr (LSE) store_log_sums(L, softmax, work, row);
  Results& results = reinterpret_cast<Results&>(smem.q);
  if constexpr (Results::kPanel != Queries::kPanel) sync(1, WARPS * 32);  // its rows are others' queries, too
  store(results, row, 0, o);  // overwrites the queries, which only this warp has read
  tma::fence();
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
#pragma unroll
  for (int p = 0; p < Results::kPanels; ++p)
    tma::store(O, results.panel[p][row], {p * Results::kPanel, work.first + row, work.head});
  tma::commit();
  tma::wait_read<0>();  // shared memory must outlive the stores that read it
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(
    const __grid_constant__ CUtensorMap Q, const __grid_constant__ CUtensorMap K, const __grid_constant__ CUtensorMap V,
    View<const f32, 1> SQ, View<const f32, 1> SK, View<const f32, 1> SV, View<const f32, 1> SINK,
    const __grid_constant__ CUtensorMap O, View<f32, 2> L, f32 scale, const Dims dims,
    const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  const Work work = AttentionOrder<BM, BN>(dims)[blockIdx.x];
  const HeadNumbers numbers = {SQ, SK, SV, SINK, static_cast<int>(dims.SINK_HEADS)};
  if (threadIdx.x == 0) {
    smem.queries.init(1);
    smem.pipeline.init(WARPS);
  }
  __syncthreads();
  if (threadIdx.x < WARPS * 32)
    consume(smem, O, L, work, numbers.sink(work.head), scale, hooks);
  else if constexpr (kMaskGiven)
    load_seen_attention(smem, Q, K, V, work, SeenSteps<BN, TileMask<Work>>(work.steps, dims.N, {hooks, work}));
  else if (elect())
    load_attention(smem, Q, K, V, work);
}

#endif

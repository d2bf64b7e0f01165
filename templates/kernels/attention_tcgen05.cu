//! kernel  attention  "O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours"
//! arch    sm_100a, sm_103a
//! prefer  2
//! use     "device/reference/attention.cuh"
//!
//! param   HD      = 64    in {64, 128}             "elements of a head"
//! param   BN      = 64    in {64, 128}             "keys of a step"
//! param   STAGES  = 2     in {2, 3}                "steps of keys and values in flight or in use"
//!
//! let     BM      = 128                           "queries of a block: the lanes of tensor memory"
//! let     THREADS = 192                           "four warps make weights, one loads, one multiplies"
//! let     SMEM    = align_up(((BM + 2 * STAGES * BN) * HD + BM * BN) * sizeof(T) + 16 * STAGES + 40, 1024)
//! let     BLOCKS  = HEADS * ceil_div(M, BM)
//!
//! require VD == 0                              "this file has values as long as keys"
//! require sizeof(T) == 2                       "numbers of 16 bits"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require BN + HD <= 192                           "scores and output must fit in registers"
//!
//! tensor  Q  box [1, BM, 64]  swizzle 128
//! tensor  K  box [1, BN, 64]  swizzle 128  l2 256
//! tensor  V  box [1, BN, 64]  swizzle 128  l2 256
//! tensor  O  box [1, 32, 64]  swizzle 128
//!
//! launch  grid BLOCKS  block THREADS  smem SMEM
//! work    flops 4 * HEADS * M * N * HD / (1 + CAUSAL)  bytes (2 * HEADS * M + 2 * KV_HEADS * N) * HD * sizeof(T)
//! reference attention_reference  grid min(HEADS * M, 65536)  block max(128, HD)  bits 5
//!
//! preset  HD = 64, BN = 128, STAGES = 2
//! preset  HD = 128, BN = 64, STAGES = 2
//! preset  HD = 64, CAUSAL = 1, BN = 128, STAGES = 2

#include "device/epilogue/log_sums.cuh"
#include "device/pipeline/tma_attention.cuh"
#include "device/reference/attention.cuh"
#include "device/schedule/attention.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tcgen05_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Work = AttentionTile<BM, BN>;
using Scores = RegisterTile<layout::Lane<BN>>;
using Output = RegisterTile<layout::Lane<HD>>;

constexpr int kWarps = 4, kLoadWarp = 4, kMultiplyWarp = 5;
constexpr int kColumns = BN + HD <= 128 ? 128 : 256;  // columns of tensor memory for the scores and for one step's part
                                                      // of the output

struct Smem {
  SharedTile<T, BM, HD> q;
  SharedTile<T, BN, HD> k[STAGES], v[STAGES];
  SharedTile<T, BM, BN> weights;
  Pipeline<STAGES> pipeline;
  Barrier queries, scored, weighed, made;  // the last three complete once per step
  u32 address;                             // in tensor memory
  PublishedSteps<STAGES, kMaskGiven> published;
};
static_assert(sizeof(Smem) == SMEM);

// Computes each step's scores, and, once they have become weights, the step's part of the output. Called by one thread.
// Loop invariant: before step i, the products of steps 0 to i - 1 have been issued and `weighed` has completed i times,
// so that the four warps have read the scores of step i - 1 and the output of step i - 2, which the next products
// overwrite.
__device__ void multiply(Smem& smem, const Work& work) {
  if (kMaskGiven || work.steps > 0) smem.queries.wait(0);
  u32 parity = 0;
  for (TileSteps steps(smem.pipeline, smem.published, work.steps); steps.next(); parity ^= 1) {
    const u32 slot = steps.slot;
    tcgen05::fence_after();
    tcgen05::multiply<1>(smem.address, smem.q, smem.k[slot], false);
    tcgen05::commit(smem.scored);
    smem.weighed.wait(parity);
    tcgen05::fence_after();
    tcgen05::multiply_rows(smem.address + BN, smem.weights, smem.v[slot]);
    tcgen05::commit(smem.pipeline.empty[slot]);
    tcgen05::commit(smem.made);
  }
}

// Converts scores to weights and accumulates the output, one query per thread. Called by four warps. Loop invariant:
// before each step, `o` is the sum of the weighted values of the steps before, relative to the maximum that `softmax`
// holds.
__device__ void weigh(Smem& smem, const CUtensorMap& O, const View<f32, 2>& L, const Work& work, f32 sink, f32 scale,
                      const Hooks& hooks) {
  const int row = threadIdx.x / 32 * 32;
  const ScoreHooks<Work> scores = {hooks, work};
  if (kMaskGiven) smem.queries.wait(0);  // without steps there is no product that waits for them
  const u32 from = tensor_memory::at(smem.address, row, 0);
  OnlineSoftmax<Scores> softmax(1, sink);
  Output o = {};
  u32 parity = 0;
#pragma unroll 1
  for (TileSteps steps(smem.pipeline, smem.published, work.steps); steps.next<false>(); parity ^= 1) {
    Scores s;
    smem.scored.wait(parity);
    tcgen05::fence_after();
    tcgen05::load(s, from);
    scores.apply(s, scale, row, steps.step() * BN, steps.whole, softmax.kMasked);
    o.map_rows(softmax.weigh(s), [](f32 x, f32 factor) { return x * factor; });
    store(smem.weights, row, 0, s);
    tma::fence();
    tcgen05::fence_before();
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem.weighed.arrive();
    smem.made.wait(parity);
    tcgen05::fence_after();
#pragma unroll
    for (int column = 0; column < HD; column += 32) {
      RegisterTile<layout::Lane<32>> part;
      tcgen05::load(part, from + BN + column);
      o.add_columns(column, part);
    }
  }
  o.map_rows(softmax.inverse_sums(), [](f32 x, f32 factor) { return x * factor; });
  if constexpr (LSE) store_log_sums(L, softmax, work, row);
  store(smem.q, row, 0, o);  // overwrites the queries, whose last product is complete
  tma::fence();
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
#pragma unroll
  for (int p = 0; p < HD / 64; ++p) tma::store(O, smem.q.panel[p][row], {p * 64, work.first + row, work.head});
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
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    smem.queries.init(1);
    smem.scored.init(1);
    smem.weighed.init(kWarps);
    smem.made.init(1);
    smem.pipeline.init(1);
  }
  if (warp == kMultiplyWarp) {
    tensor_memory::alloc<kColumns>(&smem.address);
    tensor_memory::relinquish_alloc_permit();
  }
  __syncthreads();
  if (warp < kWarps)
    weigh(smem, O, L, work, numbers.sink(work.head), scale, hooks);
  else if (kMaskGiven && warp == kLoadWarp)
    load_seen_attention(smem, Q, K, V, work, SeenSteps<BN, TileMask<Work>>(work.steps, dims.N, {hooks, work}));
  else if (warp == kLoadWarp && lane == 0)
    load_attention(smem, Q, K, V, work);
  else if (warp == kMultiplyWarp && lane == 0)
    multiply(smem, work);
  __syncwarp();
  tcgen05::fence_before();  // tensor memory must be freed after its last use by any thread
  __syncthreads();
  if (warp == kMultiplyWarp) tensor_memory::dealloc<kColumns>(smem.address);
}

#endif

//! kernel  attention  "O = softmax(scale * Q K^T) V for each head, plain, causal, or with a mask and scores of yours"
//! arch    sm_90a
//!
//! type    T       = bf16  in {bf16, f16}
//! dim     HEADS, KV_HEADS in 1..65535              "of all sequences of a batch; HEADS / KV_HEADS of queries share keys and values"
//! dim     M, N            in 0..2147483647         "queries, keys"
//!
//! param   HD      = 64    in {32, 64, 96, 128, 192, 256} "elements of a head"
//! param   CAUSAL  = 0     in {0, 1}                "1: a query sees the keys up to its own, the last query all of them"
//! param   LSE     = 0     in {0, 1}                "1: L receives the logarithm of each query's sum of weights"
//! param   BM      = 128   in {64, 128, 192}        "queries of a block: 64 a warpgroup"
//! param   BN      = 128   in {32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256} "keys of a step"
//! param   STAGES  = 2     in 1..4                  "steps of keys, and of values, in flight or in use"
//! param   TILES   = 1     in {1, 2}                "tiles whose queries and outputs are in shared memory"
//! param   PERSISTENT = 0  in {0, 1}                "1: a block for each SM processes several tiles"
//!
//! let     CONSUMERS = BM / 64
//! let     THREADS = 128 * (CONSUMERS + 1)
//! let     SLOTS   = CONSUMERS * TILES              "of queries and outputs"
//! let     PANEL   = HD % 64 == 0 ? 64 : 32         "elements of a swizzle row"
//! let     SMEM    = align_up((64 * SLOTS + 2 * STAGES * BN) * HD * sizeof(T) + 32 * STAGES + 24 * SLOTS, 1024)
//! let     BLOCKS  = HEADS * ceil_div(M, BM)
//!
//! require HEADS % KV_HEADS == 0                    "heads of queries share keys and values evenly"
//! require SMEM <= device.smem_per_block            "the tiles must fit in shared memory"
//! require PERSISTENT == 0 || HD <= 192             "with heads of 256 no registers are left for the next tile"
//! require given(mask) == 0 || BM != 192            "the warps that find the steps a mask leaves need registers"
//! require HD / 2 + BN * 3 / 4 <= (BM == 192 ? 132 : 200) "output, scores and weights must fit in registers"
//!
//! tensor  Q : T[HEADS, M, HD]     box [1, 64, PANEL]  swizzle PANEL * 2
//! tensor  K : T[KV_HEADS, N, HD]  box [1, BN, PANEL]  swizzle PANEL * 2  l2 256
//! tensor  V : T[KV_HEADS, N, HD]  box [1, BN, PANEL]  swizzle PANEL * 2  l2 256
//! tensor  O : T[HEADS, M, HD]     box [1, 64, PANEL]  swizzle PANEL * 2  out
//! tensor  L : f32[HEADS, M]  out  when LSE == 1
//! scalar  scale : f32 = 0.125
//! hook    score(f32 s, s32 q, s32 k, s32 head) : f32 generic = s "applied to each scaled product of query q and key k"
//! hook    mask(s32 q, s32 k, s32 head) : s32 generic = 1 "whether query q sees key k; steps in which no query sees a key are skipped"
//!
//! launch  grid PERSISTENT ? min(BLOCKS, device.sm_count) : BLOCKS  block THREADS  smem SMEM
//! work    flops 4 * HEADS * M * N * HD / (1 + CAUSAL)  bytes (2 * HEADS * M + 2 * KV_HEADS * N) * HD * sizeof(T)
//! reference attention_reference  grid min(HEADS * M, 65536)  block max(128, HD)  bits 4
//!
//! preset  HD = 64, BM = 192, BN = 128, PERSISTENT = 1, TILES = 2              when CAUSAL == 0 && given(mask) == 0
//! preset  HD = 64, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2              when CAUSAL == 0
//! preset  HD = 64, CAUSAL = 1, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2  when N <= 3072 || given(mask) == 1
//! preset  HD = 64, CAUSAL = 1, BM = 192, BN = 128, PERSISTENT = 1, TILES = 2  when N <= 6144 && given(mask) == 0
//! preset  HD = 64, CAUSAL = 1, BM = 192, BN = 128                            when given(mask) == 0
//! preset  HD = 128, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2             when CAUSAL == 0
//! preset  HD = 128, CAUSAL = 1, BM = 128, BN = 128, PERSISTENT = 1, TILES = 2
//! preset  HD = 192, BM = 128, BN = 112
//! preset  HD = 256, BM = 128, BN = 80

#include "device/epilogue/log_sums.cuh"
#include "device/pipeline/rotation.cuh"
#include "device/pipeline/tma_attention.cuh"
#include "device/reference/attention.cuh"
#include "device/schedule/attention.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Tiles = AttentionTiles<BM, BN, PERSISTENT, CAUSAL == 1 || kMaskGiven>;
using Work = Tiles::Work;
using Scores = RegisterTile<layout::Mma<16, BN>>;
using Queries = SharedTile<T, 64, HD, PANEL * 2>;  // of one consumer; later its output
using Output = RegisterTile<layout::Mma<16, HD>>;
using Softmax = OnlineSoftmax<Scores, 8>;

// Registers of a thread that loads or stores; those that load evaluate the mask.
constexpr int kLoadRegisters = CONSUMERS == 3 ? 32 : kMaskGiven ? 72 : PERSISTENT ? 40 : 24;

struct Smem {
  Queries q[SLOTS];
  SharedTile<T, BN, HD, PANEL * 2> k[STAGES], v[STAGES];
  Pipeline<STAGES> keys, values;
  Pipeline<SLOTS> queries;  // the slots of tile i: consumers 0, 1, ..., then those of tile i + 1
  Barrier made[SLOTS];      // completed when the slot contains the output
  PublishedSteps<STAGES, kMaskGiven> published;
};
static_assert(sizeof(Smem) <= SMEM);

// One consumer warpgroup. Its products of a step are the scores of that step and the part of the output that the
// weights of the step before make; the latter is computed while the warpgroup converts the former to weights.
class Attention {
 public:
  __device__ Attention(Smem& smem, const Hooks& hooks, int consumer)
      : smem_(smem), hooks_(hooks), consumer_(consumer), keys_(smem.keys), values_(smem.values), turn_(consumer) {}

  // Computes the output of the consumer's 64 queries of a tile, which are in `q`; a negative scale changes their sign.
  // Loop invariant: before each step, `slot` has its keys, `weights` are those of the step before, and `o` is the sum
  // of the weighted values of the steps before that, relative to the maximum that `softmax` holds. Steps are counted
  // down; the slots of the keys of the step before and of the values of the one before that are released.
  __device__ void compute(Output& o, Queries& q, const View<f32, 2>& L, const Work& work, f32 scale) {
    Softmax softmax(kScoreGiven ? 1 : fabsf(scale));
    const int row = threadIdx.x / 32 * 16, whole = (work.last(consumer_ * 64) + 1) / BN;
    o.fill(0);
    u32 slot = 0;
    const int last = kMaskGiven ? next(slot, 0) : work.steps - 1;
    if constexpr (LSE)
      if (last < 0) store_log_sums(L, softmax, work, row);
    if (kMaskGiven && last < 0) release(slot);
    if (last < 0) return;
    if (!kScoreGiven && scale < 0) {
      negate<kWarpgroup>(q, threadIdx.x % kWarpgroup);
      tma::fence();
      sync(4 + consumer_, kWarpgroup);
    }
    wgmma::Words<T, BN> weights;
    typename Softmax::Vector factor;
    Scores s;
    if (!kMaskGiven) slot = keys_.wait();
    wgmma::multiply(s, q, 0, smem_.k[slot], false);
    wgmma::wait<0>();
    release(slot);
    apply_hooks(s, work, scale, row, last, whole);
    softmax.weigh(s, factor);
    weights.round(s);
    int after = next(slot, last);
#pragma unroll 1
    for (int step = after; step >= 0; step = after) {
      turn_.begin();
      wgmma::multiply(s, q, 0, smem_.k[slot], false);
      const u32 before = values_.wait();
      wgmma::multiply(o, weights, smem_.v[before]);
      turn_.end();
      wgmma::wait<1>();
      release(slot);
      apply_hooks(s, work, scale, row, step, whole);
      const bool moved = softmax.weigh(s, factor);
      after = next(slot, step);  // between weights and wait: ptxas moves no wait over a branch
      wgmma::wait<0>();
      smem_.values.release_warpgroup(before);
      if (moved) o.map_rows(factor, [](f32 x, f32 f) { return x * f; });
      weights.round(s);
    }
    if constexpr (kMaskGiven) release(slot);
    slot = values_.wait();
    wgmma::multiply(o, weights, smem_.v[slot]);
    const auto inverse = softmax.inverse_sums();
    wgmma::wait<0>();
    smem_.values.release_warpgroup(slot);
    o.map_rows(inverse, [](f32 x, f32 f) { return x * f; });
    if constexpr (LSE) store_log_sums(L, softmax, work, row);
  }

  __device__ void finish() {
    turn_.finish();
  }

 private:
  // Returns the step after `step`, once its keys are in `slot`; negative after the last. With a mask it is a SeenStep,
  // and there is a slot after the last.
  __device__ int next(u32& slot, int step) {
    if constexpr (kMaskGiven) {
      slot = keys_.wait();
      return smem_.published[slot];
    } else {
      if (step > 0) slot = keys_.wait();
      return step - 1;
    }
  }
  // Releases a slot of keys: with a mask by warps, as each has read what was published.
  __device__ void release(u32 slot) {
    if constexpr (kMaskGiven) {
      __syncwarp();
      if (threadIdx.x % 32 == 0) smem_.keys.empty[slot].arrive();
    } else {
      smem_.keys.release_warpgroup(slot);
    }
  }
  __device__ void apply_hooks(Scores& s, const Work& work, f32 scale, int row, int step, int whole_steps) const {
    const ScoreHooks<Work> scores = {hooks_, work};
    const bool whole = kMaskGiven ? SeenStep::is_whole(step) : step < whole_steps;
    const int key = (kMaskGiven ? SeenStep::step(step) : step) * BN;
    if constexpr (kScoreGiven) s.map_at([&](f32 x, int r, int c) { return scores.score(x * scale, row + r, key + c); });
    if (!whole) s.map_at([&](f32 x, int r, int c) { return scores.sees(row + r, key + c) ? x : Softmax::kMasked; });
  }

  Smem& smem_;
  const Hooks& hooks_;
  const int consumer_;
  Consumer<STAGES, 1> keys_, values_;
  Rotation<CONSUMERS> turn_;
};

// Computes 64 rows of each of the block's tiles. Called by one consumer warpgroup.
__device__ void consume(Smem& smem, const View<f32, 2>& L, const Dims& dims, f32 scale, const Hooks& hooks) {
  const int consumer = threadIdx.x / kWarpgroup, warp = threadIdx.x % kWarpgroup / 32;
  Consumer queries(smem.queries);
  queries.skip(consumer);
  Attention attention(smem, hooks, consumer);
  for (Tiles tiles(dims); tiles.more(); tiles.next()) {
    const u32 slot = queries.wait();
    queries.skip(CONSUMERS - 1);
    Output o;
    attention.compute(o, smem.q[slot], L, tiles.work(), scale);
    store(smem.q[slot], warp * 16, 0, o);  // overwrites the queries, which only this warpgroup has read
    tma::fence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem.made[slot].arrive();
  }
  attention.finish();
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void attention(const __grid_constant__ CUtensorMap Q,
                                                                   const __grid_constant__ CUtensorMap K,
                                                                   const __grid_constant__ CUtensorMap V,
                                                                   const __grid_constant__ CUtensorMap O,
                                                                   View<f32, 2> L, f32 scale, const Dims dims,
                                                                   const __grid_constant__ Hooks hooks) {
  Smem& smem = shared_memory<Smem>();
  if (threadIdx.x == 0) {
    for (Barrier& made : smem.made) made.init(4);
    smem.queries.init(1);
    smem.keys.init(kMaskGiven ? CONSUMERS * 4 : CONSUMERS);
    smem.values.init(CONSUMERS);
  }
  __syncthreads();
  const int thread = threadIdx.x - CONSUMERS * kWarpgroup;
  if (thread >= 0) {
    give_registers<kLoadRegisters>();
    if constexpr (kMaskGiven) {
      if (thread < 32)
        load_seen_backwards<CONSUMERS>(smem, Q, K, V, Tiles(dims), [&](const Work& work) {
          return SeenSteps<BN, TileMask<Work>>(work.steps, dims.N, {hooks, work});
        });
    } else if (thread == 0) {
      load_attention_backwards<CONSUMERS>(smem, Q, K, V, Tiles(dims));
    }
    if (thread == 32) store_attention<CONSUMERS>(smem, O, Tiles(dims));
    __syncwarp();
  } else {
    take_registers<CONSUMERS == 3 ? 160 : kLoadRegisters == 24 ? 240 : kLoadRegisters == 40 ? 232 : 216>();
    consume(smem, L, dims, scale, hooks);
    __syncwarp();
  }
}

#endif

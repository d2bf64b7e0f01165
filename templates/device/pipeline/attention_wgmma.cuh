#pragma once
// What the attention files that multiply by wgmma share: the shared memory of a block, and a consumer's loop over the
// steps of a tile. T, HD and the params of these files are the template's.
#include "device/pipeline/rotation.cuh"
#include "device/pipeline/tma_attention.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/online_softmax.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Scores = RegisterTile<layout::Mma<16, BN>>;
using Queries = SharedTile<T, 64, HD, PANEL * 2>;  // of one consumer; later its output
using Output = RegisterTile<layout::Mma<16, HD>>;
using Softmax = OnlineSoftmax<Scores, 8>;

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
template <class Work> class Attention {
 public:
  __device__ Attention(Smem& smem, const Hooks& hooks, int consumer)
      : smem_(smem), hooks_(hooks), consumer_(consumer), keys_(smem.keys), values_(smem.values), turn_(consumer) {}

  // Computes the output of the consumer's 64 queries of a tile, which are in `q`; a negative scale changes their sign.
  // Loop invariant: before each step, `slot` has its keys, `weights` are those of the step before, and `o` is the sum
  // of the weighted values of the steps before that, relative to the maximum that `softmax` holds. Steps are counted
  // down; the slots of the keys of the step before and of the values of the one before that are released. `store_sums`
  // is called with the softmax once it has seen all scores.
  template <class Store>
  __device__ void compute(Output& o, Queries& q, const Work& work, f32 scale, const Store& store_sums) {
    Softmax softmax(kScoreGiven ? 1 : fabsf(scale));
    const int row = threadIdx.x / 32 * 16, whole = (work.last(consumer_ * 64) + 1) / BN;
    o.fill(0);
    u32 slot = 0;
    const int last = kMaskGiven ? next(slot, 0) : work.steps - 1;
    if (last < 0) store_sums(softmax);
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
    if constexpr (Work::kRagged) clear_values(work, last);
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
    store_sums(softmax);
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
  // If the tile's first step, `last`, reaches beyond the sequence's keys, clears its values there: they are those of
  // the next sequence, or of none, and a weight of zero would not hide what is not finite. The turns order consumer 0,
  // which clears, before the others.
  __device__ void clear_values(const Work& work, int last) {
    const int keys = work.keys - (kMaskGiven ? SeenStep::step(last) : last) * BN;
    if (keys >= BN) return;
    turn_.begin();
    if (consumer_ == 0) {
      Consumer<STAGES, 1> values = values_;
      clear_rows<kWarpgroup>(smem_.v[values.wait()], keys, threadIdx.x);
      tma::fence();
      sync(4, kWarpgroup);
    }
    turn_.end();
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

#endif

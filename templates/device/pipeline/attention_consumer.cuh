#pragma once
// A consumer's loop over the steps of a tile, in the attention files that multiply by wgmma. T and the params of these
// files are the template's, as are Smem, Queries, kQueriesHeld, Scores, Output, Weights and Softmax.
#include "device/pipeline/attention_steps.cuh"
#include "device/pipeline/rotation.cuh"
#include "device/ptx/uniform.cuh"
#include "device/tile/attention_hooks.cuh"
#include "device/tile/head_numbers.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/wgmma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

// The queries of a tile as the first factor of its scores: in registers, from which the tensor cores read them without
// a share of what shared memory delivers, or where there are none left in shared memory.
template <bool Held> class QueryFactor {
 public:
  __device__ explicit QueryFactor(const Queries& queries) { words_.load(queries); }
  template <class Keys> __device__ void multiply(Scores& s, const Keys& keys) const {
    wgmma::multiply_rows(s, words_, keys);
  }

 private:
  wgmma::Words<T, HD> words_;
};
template <> class QueryFactor<false> {
 public:
  __device__ explicit QueryFactor(const Queries& queries) : queries_(queries) {}
  template <class Keys> __device__ void multiply(Scores& s, const Keys& keys) const {
    wgmma::multiply_rows(s, queries_, keys);
  }

 private:
  const Queries& queries_;
};

// One consumer warpgroup. Its products of a step are the scores of that step and the part of the output that the
// weights of the step before make; the latter is computed while the warpgroup converts the former to weights. If there
// is room for the queries of several tiles, the first step of a tile so computes the last part of the tile before.
// finish(o, softmax, work, slot) is called once for each tile in order, with its output and the slot of its queries.
// Read states that tiles are read from memory.
template <class Work, class Finish, bool Read = Work::kRagged> class Attention {
 public:
  __device__ Attention(Smem& smem, const Hooks& hooks, const HeadNumbers& numbers, f32 scale, int consumer,
                       const Finish& finish, const Weights& weights)
      : smem_(smem),
        hooks_(hooks),
        numbers_(numbers),
        scale_(scale),
        consumer_(consumer),
        finish_(finish),
        keys_(smem.keys),
        values_(smem.factors()),
        turn_(consumer),
        weights_(weights),
        softmax_(1),
        work_() {
    if constexpr (kAlways) {
      Scores none;
      none.fill(0);
      weights_.round(none);
      o_.fill(0);
    }
  }

  // Computes the outputs of all tiles.
  template <class Tiles> __device__ void attend(Tiles tiles) {
    if constexpr (Read) {
#pragma unroll 1
      for (;; tiles.next()) {  // one call of finish_last, whose products take long to compile
        const bool more = uniform(tiles.more());
        const u32 queries = more ? uniform(tiles.slot()) : 0;
        if (more && attend(tiles.work(), queries)) continue;
        if constexpr (TILES > 1) finish_last();
        if (!more) break;
        finish_without_keys(tiles.work(), queries);
      }
    } else {  // all tiles have keys, or none; in the loop above, the compiler would not see that slots are uniform
      for (; tiles.more(); tiles.next()) {
        const u32 queries = uniform(tiles.slot());
        const Work work = tiles.work();
        if (!attend(work, queries)) finish_without_keys(work, queries);
      }
      if constexpr (TILES > 1) finish_last();
    }
    turn_.finish();
  }

 private:
  // Computes the output of the consumer's 64 queries of a tile, which are in a slot, but for the part of its last step;
  // a negative scale changes their sign. Returns false and does nothing if the tile has no keys. Loop invariant: before
  // each step, `slot` has its keys, `weights_` are those of the step before, and `o_` is the sum of the weighted values
  // of the steps before that, relative to the maximum that `softmax_` holds. Steps are counted down; the slots of the
  // keys of the step before and of the values of the one before that are released.
  __device__ bool attend(const Work& work, u32 queries) {
    Queries& q = smem_.q[queries];
    // Every query of the consumer sees the keys of the first `whole` steps, but for the mask.
    const int row = threadIdx.x / 32 * 16, whole = (work.last(consumer_ * 64) + 1) / BN;
    u32 slot = 0;
    const int last = kMaskGiven ? next(slot, 0) : Read ? uniform(work.steps) - 1 : work.steps - 1;
    if (last < 0) {
      if (kMaskGiven) release(slot);
      return false;
    }
    const f32 scale = numbers_.product_scale(scale_, work.head, work.kv_head);
    Softmax softmax = softmax_of(work, scale);
    if (!kScoreGiven && scale < 0) {
      negate<T, kWarpgroup>(q, threadIdx.x % kWarpgroup);
      tma::fence();
      sync(4 + consumer_, kWarpgroup);
    }
    const QueryFactor<kQueriesHeld && !Work::kRagged> first_factor(q);
    if (!kMaskGiven) slot = wait(keys_);
    typename Softmax::Vector factor;
    Scores s;
    const auto weigh = [&] {
      apply_hooks(s, scale, work, row, last);
      mask_from(whole, s, work, row, last);
      softmax.weigh(s, factor);
    };
    if (kAlways || (TILES > 1 && pending_)) {
      turn_.begin();
      first_factor.multiply(s, smem_.k[slot]);
      const u32 before = kAlways ? values_before() : wait(values_);
      wgmma::multiply(o_, weights_, smem_.factor(before));
      turn_.end();
      wgmma::wait<kShortened ? 0 : 1>();
      release(slot);
      if constexpr (!kShortened) weigh();
      const auto inverse = softmax_.inverse_sums();
      wgmma::wait<0>();
      if (pending_) {
        smem_.factors().release_warpgroup(before);
        finish(inverse);
      }
    } else {
      first_factor.multiply(s, smem_.k[slot]);
      wgmma::wait<0>();
      release(slot);
      if constexpr (!kShortened) weigh();
    }
    if constexpr (kShortened)
      weigh_seen(s, softmax, work, row, last, whole);
    else
      weights_.round(s);
    o_.fill(0);
    softmax_ = softmax, work_ = work, queries_ = queries, pending_ = true;
    if constexpr (Work::kRagged) clear_values(work, last);
    int after = next(slot, last);
#pragma unroll 1
    for (int step = after; step >= 0; step = after) {
      turn_.begin();
      first_factor.multiply(s, smem_.k[slot]);
      const u32 before = wait(values_);
      wgmma::multiply(o_, weights_, smem_.factor(before));
      turn_.end();
      wgmma::wait<1>();
      release(slot);
      apply_hooks(s, scale, work, row, step);
      // If not causal, only the keys' last step, a tile's first, reaches beyond them; 256 keys are 3 % faster with
      // this.
      if constexpr (CAUSAL == 1 || BN > 192) mask_from(whole, s, work, row, step);
      const bool moved = softmax_.weigh(s, factor);
      if constexpr (BN > 192) softmax_.settle();  // 10 % faster; shorter steps take 1 to 3 % longer with it
      after = next(slot, step);                   // between weights and wait: ptxas moves no wait over a branch
      wgmma::wait<0>();
      smem_.factors().release_warpgroup(before);
      if (moved) o_.map_rows(factor, [](f32 x, f32 f) { return x * f; });
      weights_.round(s);
    }
    if constexpr (TILES == 1) finish_last();
    return true;
  }

  // Computes what remains of the last tile that had keys, if it is not finished. With room for one tile only, called
  // after each.
  __device__ void finish_last() {
    if (!pending_) return;
    const u32 slot = wait(values_);
    wgmma::multiply(o_, weights_, smem_.factor(slot));
    const auto inverse = softmax_.inverse_sums();
    wgmma::wait<0>();
    smem_.factors().release_warpgroup(slot);
    finish(inverse);
    pending_ = false;
  }
  // Makes the output of a tile without keys.
  __device__ void finish_without_keys(Work work, u32 queries) {
    o_.fill(0);
    finish_(o_, softmax_of(work, numbers_.product_scale(scale_, work.head, work.kv_head)), work, queries);
  }
  // Returns what begins with the sinks of the warp's rows.
  __device__ Softmax softmax_of(const Work& work, f32 scale) const {
    const int row = threadIdx.x / 32 * 16;
    typename Softmax::Vector all;
    all.fill(Work::kHeads == 1 ? numbers_.sink(work.head) : 0);
    if constexpr (Work::kHeads > 1)
#pragma unroll
      for (int s = 0; s < Scores::Layout::kRowSlots; ++s)
        all.x[s] = numbers_.sink(work.head_of(row + Scores::Layout::row(s)));
    return Softmax(score_unit(hooks_, scale), all);
  }
  // Returns the next slot once it is full. The compiler sees that it is uniform unless the tiles are read from memory.
  using Ring = Consumer<STAGES, Smem::kBlocks>;
  __device__ static u32 wait(Ring& ring) {
    const u32 slot = ring.wait();
    return Read ? uniform(slot) : slot;
  }
  // Returns the next slot of values once it is full, and takes it unless the tile is the first: it is then its own.
  __device__ u32 values_before() {
    Ring ahead = values_;
    const u32 slot = uniform(ahead.wait());
    values_.skip(pending_ ? 1 : 0);
    return slot;
  }
  // Returns the step after `step`, once its keys are in `slot`; negative after the last. With a mask it is a SeenStep.
  __device__ int next(u32& slot, int step) {
    if constexpr (kMaskGiven) {
      if (SeenStep::is_last(step)) return SeenStep::kEnd;
      slot = wait(keys_);
      return uniform(smem_.published[slot]);
    } else {
      if (step > 0) slot = wait(keys_);
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
    const int keys = work.keys - step_of(last) * BN;
    if (keys >= BN) return;
    turn_.begin();
    if (consumer_ == 0) {
      Ring values = values_;
      clear_rows<kWarpgroup>(smem_.v[values.wait()], keys, threadIdx.x);
      tma::fence();
      sync(4, kWarpgroup);
    }
    turn_.end();
  }
  // The first tile of a block makes a product, too, of no weights with its own first values, which nobody reads: so the
  // code of a first step is there once. A mask compiles in 0.8 of the time, and is as fast or 1 % faster; heads of 64
  // gain 1 % at 1024 keys, others lose 0.4 % without a mask, and 1 to 3 % with a score. Ragged tiles clear values that
  // it would read, and for weights of 8 bits ptxas has too few registers.
  static constexpr bool kAlways = TILES > 1 && sizeof(T) == 2 && !Work::kRagged && (kMaskGiven || HD == 64);
  // The first step of a tile may reach far beyond the keys that the consumer's queries see, where attention is causal
  // or sequences have any length: what lies beyond is left out, 64 columns at a time. That takes branches, which ptxas
  // has wait for all products in flight; other consumers' products run meanwhile. Rows of several heads see nearly all
  // keys of a step.
  static constexpr bool kShortened = (CAUSAL == 1 || Work::kRagged) && Work::kHeads == 1 && !kMaskGiven && !kScoreGiven;
  __device__ void weigh_seen(const Scores& s, Softmax& softmax, const Work& work, int row, int step, int whole_steps) {
    const int keys = uniform(work.last(consumer_ * 64 + 63) + 1 - step * BN);
    if constexpr (BN > 128)
      if (keys <= BN - 128) return weigh_columns<BN - 128>(s, softmax, work, row, step, false);
    if constexpr (BN > 64)
      if (keys <= BN - 64) return weigh_columns<BN - 64>(s, softmax, work, row, step, false);
    weigh_columns<BN>(s, softmax, work, row, step, step < whole_steps);
  }
  // Makes the weights of a tile's first step, of which only the first N columns have any.
  template <int N>
  __device__ void weigh_columns(const Scores& s, Softmax& softmax, const Work& work, int row, int step, bool whole) {
    auto seen = s.template columns<N>(0);
    if (!whole) mask(seen, work, row, step * BN);
    typename Softmax::Vector factor;
    softmax.weigh(seen, factor);
    Scores weights;
    weights.fill(0);
    weights.put_columns(0, seen);
    weights_.round(weights);
  }
  // Hides the scores of keys that a row does not see; the tile's first column is `key`.
  template <class Tile> __device__ static void mask(Tile& s, const Work& work, int row, int key) {
    s.map_at([&](f32 x, int r, int c) { return work.sees(row + r, key + c) ? x : Softmax::kMasked; });
  }
  // The same of a step's scores, unless it is one of the first `whole`.
  __device__ static void mask_from(int whole, Scores& s, const Work& work, int row, int step) {
    if (step_of(step) >= whole) mask(s, work, row, step_of(step) * BN);
  }
  __device__ void finish(const typename Softmax::Vector& inverse) {
    const f32 value_scale = numbers_.value_scale(work_.kv_head);
    o_.map_rows(inverse, [&](f32 x, f32 f) { return x * (f * value_scale); });
    finish_(o_, softmax_, work_, queries_);
  }
  __device__ static int step_of(int step) {
    return kMaskGiven ? SeenStep::step(step) : step;
  }
  __device__ void apply_hooks(Scores& s, f32 scale, const Work& work, int row, int step) const {
    const ScoreHooks<Work> scores = {hooks_, work};
    const int key = step_of(step) * BN;
    if constexpr (kScoreGiven) scores.apply_score(s, scale, row, key);
    if constexpr (kMaskGiven)
      if (!SeenStep::is_whole(step)) scores.apply_mask(s, row, key, Softmax::kMasked);
  }

  Smem& smem_;
  const Hooks& hooks_;
  const HeadNumbers& numbers_;
  const f32 scale_;
  const int consumer_;
  const Finish& finish_;
  Ring keys_, values_;
  Rotation<CONSUMERS> turn_;
  Output o_;
  Weights weights_;
  // Of the tile that is not finished:
  Softmax softmax_;
  Work work_;
  u32 queries_ = 0;  // their slot
  bool pending_ = false;
};

#endif

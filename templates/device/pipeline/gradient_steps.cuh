#pragma once
// The steps of the backward pass of attention: those in which any query sees any key, found from the hook `mask` where
// the request has one. CAUSAL, HD, T and Hooks are the template's.
#include "device/pipeline/seen_steps.cuh"
#include "device/tile/attention_hooks.cuh"

#ifndef TMA_JIT_REFERENCE

// A step of a head of queries, and whether every query of the step sees every key of the tile, or every query of the
// tile every key of the step: in one number, negative after the last.
struct GradientStep {
  int code, head;

  __device__ GradientStep(int head) : code(-1), head(head) {}
  __device__ GradientStep(int index, bool whole, int head) : code(index * 2 + whole), head(head) {}
  __device__ static GradientStep of(int seen, int head) {
    return seen < 0 ? GradientStep(head) : GradientStep(SeenStep::step(seen), SeenStep::is_whole(seen), head);
  }
  __device__ bool exists() const { return code >= 0; }
  __device__ int index() const { return code / 2; }
  __device__ bool whole() const { return code % 2 != 0; }
};

// What the mask gives over a tile of keys and the queries from `first` to `last` of a head.
template <class Work> struct KeyTileMask {
  const Hooks* hooks;
  const Work* work;
  int head;

  __device__ Truth operator()(int first, int last) const {
    const int rows = min(Work::kRows, work->keys - work->first);
    Truth seen = mask_over(*hooks, {work->position(first), work->position(last)}, {work->first, work->first + rows - 1},
                           work->hook_head(head), 0);
    seen.some = seen.some && last >= work->first_query(0);
    seen.all = seen.all && work->whole_from(first);
    return seen;
  }
};

// What is found of the steps of a tile of keys by the warp that needs it, anew for each head. All members are called by
// all lanes of the warp.
class OwnSearch {
 public:
  __device__ explicit OwnSearch(const Hooks& hooks) : hooks_(hooks) {}

  __device__ void await() const {}
  // Returns the steps of a head's queries, and the looks that find them.
  template <class Work> __device__ auto looks(const Work& work, int head) const {
    return StepLooks<Work::kStep, KeyTileMask<Work>>(work.end, work.queries, {&hooks_, &work, head});
  }
  template <class Work> __device__ auto steps(const Work& work, int head) const {
    return StepsOf<decltype(looks(work, head))>(looks(work, head));
  }
  // Returns whether a tile sees any query of a step.
  template <class Work> __device__ bool sees(const Work& work, int step, int head) const {
    const int first = step * Work::kStep, last = min(first + Work::kStep, work.queries) - 1;
    return KeyTileMask<Work>{&hooks_, &work, head}(first, last).some;
  }
  // Returns how many tiles of keys before this one see any query of a step.
  template <class Work> __device__ int rank(const Work& work, const GradientStep& step) const {
    const int row = work.first / Work::kRows;
    int rank = 0;
#pragma unroll 1
    for (int begin = 0; begin < row; begin += 32) {
      const int r = begin + threadIdx.x % 32;
      const bool seen = sees(work.of_row(min(r, row - 1)), step.index(), step.head);
      rank += __popc(__ballot_sync(0xffffffff, r < row && seen));
    }
    return rank;
  }

 private:
  const Hooks& hooks_;
};

// Whether tiles of keys visit each step of all heads that share the keys before the next step, under a mask that is the
// same for all heads: if tiles that follow one another begin at the same step, as under a causal mask. Where each
// begins later than the one before, as under a window, their steps are as many, so that none waits for another for
// long, and tiles under way read a step at about the same time only if they have one head after the other: what they
// read and add to between its first and last tile is otherwise all that they do, for which L2 has room if the heads are
// few. The tiles that are asked are those after a quarter of all. Tiles of 96 keys have no registers for that, and wide
// heads and sequences of different lengths none for the question if the mask reads operands. Called by all lanes of a
// warp.
template <class Work, class Search> __device__ inline bool heads_together(const Search& search, const Work& work) {
  constexpr s64 kRoom = 40 << 20, kBytes = Work::kRows * HD * (2 * sizeof(T) + sizeof(f32));
  if constexpr (!kMaskSameForHeads || Work::kRows == 96) return false;
  if constexpr (Hooks::mask_reads && (HD > 128 || Work::kRagged)) return true;
  if (work.heads * gridDim.x * kBytes <= kRoom) return true;
  const int rows = ceil_div<u32>(work.keys, Work::kRows), row = rows / 4;
  const Work tile = work.of_row(row);
  const int first = search.steps(tile, work.head).next(), later = SeenStep::step(first) + 1;
  return first < 0 || later >= work.end || row + 1 >= rows || !search.sees(work.of_row(row + 1), later, work.head);
}

// The steps of queries that see a tile of keys, from the last to the first: of all heads that share the keys each, so
// that tiles of fewer steps than others wait for these in the order of sums at the first step only. Under a mask, which
// may leave other steps of each head, they are those of one head after the other unless they are asked for Together,
// and all members are called by all lanes of a warp. Tiles that wrap around begin at a step of their own.
//   for (auto step = steps.next(); step.exists(); step = steps.next()) { ... step.index(), step.head ... }
template <class Work, class Search = OwnSearch> class KeySteps {
 public:
  using Step = GradientStep;

  __device__ KeySteps(const Work& work, const Search& search, bool together = false)
      : work_(work),
        search_(search),
        together_(together),
        head_(together ? work.head + work.heads : work.head),
        step_(work.start()),
        seen_(search.steps(work, work.head)) {}

  __device__ Step next() {
    if constexpr (kMaskGiven) {
      const int end = work_.head + work_.heads;
      if (together_ && head_ < end) return Step::of(step_, head_++);
      while (true) {
        step_ = seen_.next();
        if (together_) head_ = work_.head;
        if (step_ >= 0 || together_ || ++head_ == end) break;
        seen_ = search_.steps(work_, head_);
      }
      return Step::of(step_, together_ ? head_++ : head_);
    } else {
      if (head_ == work_.head + work_.heads) {
        head_ = work_.head, --step_, --left_;
        if (kWraps && step_ == work_.begin) step_ = work_.end;
      }
      if (kWraps ? left_ > 0 : step_ > work_.begin) {
        const int first = (step_ - 1) * Work::kStep;
        return {step_ - 1, first + Work::kStep <= work_.queries && work_.whole_from(first), head_++};
      }
    }
    return {head_};
  }

 private:
  static constexpr bool kWraps = Work::kStepSums > 1;

  const Work& work_;
  const Search& search_;
  const bool together_;
  int head_;
  int step_;                            // under a mask a SeenStep
  int left_ = work_.end - work_.begin;  // steps, if it wraps around
  decltype(search_.steps(work_, head_)) seen_;
};

// The steps of keys that a tile of queries sees.
template <class Work> class QuerySteps {
 public:
  using Step = GradientStep;

  __device__ QuerySteps(const Work& work, const Hooks& hooks)
      : work_(work), seen_(work.steps, work.keys, {hooks, work}) {}

  __device__ Step next() {
    if constexpr (kMaskGiven) return Step::of(seen_.next(), work_.head);
    if (step_ >= work_.steps) return {work_.head};
    const int last = (step_ + 1) * Work::kStep - 1;
    return {step_++, last <= work_.last(0), work_.head};
  }

 private:
  const Work& work_;
  SeenSteps<Work::kStep, TileMask<Work>> seen_;
  int step_ = 0;
};

#endif

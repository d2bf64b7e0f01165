#pragma once
// The producer of the backward pass of attention: it draws items, and of each tile of keys loads the keys and values
// into `smem.keys` and `smem.values`, a slot of `smem.own`, and for each step the queries, the gradients of their
// results, the logarithms of their sums and their deltas into a slot of `smem.steps`. STAGES is the template's.
#include "device/pipeline/gradient_steps.cuh"
#include "device/pipeline/pipeline.cuh"
#include "device/schedule/tile_place.cuh"
#include "device/tile/attention_gradient.cuh"
#include "device/tile/tma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

// What the consumers need to know of a step.
struct StepRecord {
  enum Flag { kWhole = 1, kLast = 2, kNone = 4 };
  int number;  // of the step's sums
  int query;   // the first
  int head;    // as hooks count it
  int flags;
  int rank;    // how many tiles of keys before this one see any query of the step

  __device__ bool whole() const { return flags & kWhole; }
  __device__ bool last() const { return flags & kLast; }  // of the tile
  __device__ bool none() const { return flags & kNone; }  // the tile has no steps
};

struct StepMaps {
  const CUtensorMap &Q, &K, &V, &DO;
  const View<const f32, 2>&L, &DELTA;
};

// Returns how many tiles of keys before this one visit a step. Called by all lanes of a warp.
template <class Work> __device__ inline int rank_of(const Hooks& hooks, const Work& work, const GradientStep& step) {
  const int row = work.first / Work::kRows;
  if constexpr (!kMaskGiven) return row;
  const int first = step.index() * Work::kStep, last = min(first + Work::kStep, work.queries) - 1;
  int rank = 0;
#pragma unroll 1
  for (int begin = 0; begin < row; begin += 32) {
    const int r = begin + threadIdx.x % 32;
    const Work other = work.of_row(min(r, row - 1));
    const bool seen = KeyTileMask<Work>{&hooks, &other, step.head}(first, last).some;
    rank += __popc(__ballot_sync(0xffffffff, r < row && seen));
  }
  return rank;
}

// Called by all lanes of a warp.
template <bool Ranked, class Smem> class GradientProducer {
 public:
  __device__ GradientProducer(Smem& smem, const StepMaps& from, const Hooks& hooks)
      : smem_(smem), from_(from), hooks_(hooks), steps_(smem.steps), own_(smem.own), items_(smem.items) {}

  // Draws items until none is left, and loads their tiles.
  template <class Items> __device__ void load(const Items& items, u32* drawn) {
    const int count = items.count();
    int item = 0;
#pragma unroll 1
    while (item < count) {
      item = __shfl_sync(kAll, is_first() ? atomicInc(drawn, count + gridDim.x - 1) : 0, 0);
      const u32 slot = items_.acquire();
      const bool has_tile = item < count && items.has_tile(item);
      if (is_first()) {
        smem_.numbers[slot] = item;
        if (has_tile) smem_.tiles[slot] = items.tile(item);
        smem_.items.full[slot].arrive();
      }
      __syncwarp();
      if (has_tile) load_tile(smem_.tiles[slot]);
    }
  }

 private:
  static constexpr u32 kAll = 0xffffffff;
  static constexpr int kStep = sizeof(Smem::log_sum[0]) / sizeof(f32), kEach = kStep / 32;

  __device__ static bool is_first() { return threadIdx.x % 32 == 0; }

  template <class Work> __device__ void load_tile(const Work& work) {
    KeySteps<Work> steps(work, hooks_);
    GradientStep step = steps.next();
    if (step.seen < 0) {
      const u32 slot = steps_.acquire();
      if (is_first()) {
        smem_.records[slot].flags = StepRecord::kNone | StepRecord::kLast;
        smem_.steps.full[slot].arrive(2);
      }
      return __syncwarp();
    }
    bool first = true;
#pragma unroll 1
    while (step.seen >= 0) {
      const GradientStep after = steps.next();
      load_step(work, step, after.seen < 0);
      if (first) load_own(work);
      first = false;
      step = after;
    }
  }
  template <class Work> __device__ void load_own(const Work& work) {
    own_.acquire();
    if (is_first()) {
      Barrier& full = smem_.own.full[0];
      full.expect(sizeof(smem_.keys) + sizeof(smem_.values));
#pragma unroll 1
      for (int i = 0; i < 2; ++i) {
        tma::load(smem_.keys[i], from_.K, full, work.key_at(work.first + i * 64).at);
        tma::load(smem_.values[i], from_.V, full, work.key_at(work.first + i * 64).at);
      }
    }
    __syncwarp();
  }
  template <class Work> __device__ void load_step(const Work& work, const GradientStep& step, bool last) {
    const int first = step.index() * Work::kStep;
    f32 log_sum[kEach], delta[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int query = first + i * 32 + threadIdx.x % 32;
      const bool exists = query < work.queries;
      log_sum[i] = exists ? work.numbers_of(from_.L, step.head)[query] : -infinity();
      delta[i] = exists ? work.numbers_of(from_.DELTA, step.head)[query] : 0;
    }
    const int rank = Ranked ? rank_of(hooks_, work, step) : 0;
    const u32 slot = steps_.acquire();
    if (is_first()) {
      Barrier& full = smem_.steps.full[slot];
      full.expect(sizeof(smem_.queries[0]) + sizeof(smem_.result_gradients[0]));
      load_rows(smem_.queries[slot], from_.Q, full, work, step.head, first);
      load_rows(smem_.result_gradients[slot], from_.DO, full, work, step.head, first);
      smem_.records[slot] = {work.number(step.head, step.index()), first, work.hook_head(step.head),
                             (step.whole() ? StepRecord::kWhole : 0) | (last ? StepRecord::kLast : 0), rank};
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      smem_.log_sum[slot][i * 32 + threadIdx.x % 32] = weight_exponent(log_sum[i]);
      smem_.minus_delta[slot][i * 32 + threadIdx.x % 32] = -delta[i];
    }
    __syncwarp();
    if (is_first()) smem_.steps.full[slot].arrive();
  }
  // By boxes of 64 rows.
  template <class Tile, class Work>
  __device__ static void load_rows(Tile& tile, const CUtensorMap& map, Barrier& full, const Work& work, int head,
                                   int first) {
#pragma unroll
    for (int p = 0; p < tile.kPanels; ++p)
#pragma unroll
      for (int r = 0; r < tile.kRows; r += 64) {
        TilePlace place = work.query_at(head, first + r);
        place.at[0] = p * tile.kPanel;
        tma::load(&tile.panel[p][r], map, full, place.at);
      }
  }

  Smem& smem_;
  const StepMaps& from_;
  const Hooks& hooks_;
  Producer<STAGES, 1> steps_;
  Producer<1, 1> own_;
  Producer<2, 1> items_;
};

#endif

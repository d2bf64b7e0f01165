#pragma once
// The producer of the backward pass of attention: it draws items, and of each tile of keys loads the keys and values
// into `smem.keys` and `smem.values`, a slot of `smem.own`; for each step the queries and the logarithms of their sums
// into a slot of `smem.steps`, and the gradients of their results and their deltas, which are needed for a shorter
// time, into a slot of `smem.results`. STAGES and RESULTS are the template's.
#include "device/pipeline/gradient_steps.cuh"
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/elect.cuh"
#include "device/tile/attention_gradient.cuh"
#include "device/tile/gradient_item.cuh"
#include "device/tile/tma_tile.cuh"

#ifndef TMA_JIT_REFERENCE

// What is to be known of a step. A record is kept until the step's part of the gradients of queries is being added,
// at most three steps later: step i's is number i modulo kStepRecords.
constexpr int kStepRecords = 8;
static_assert(STAGES + 3 <= kStepRecords);
struct StepRecord {
  enum Flag { kWhole = 1, kLast = 2, kNone = 4 };
  int number;  // of the step's sums
  int query;   // the first
  int head;    // as hooks count it
  int flags;
  int rank;  // how many tiles of keys before this one, of those that add to the same sum, see any query of the step

  __device__ bool whole() const { return flags & kWhole; }
  __device__ bool last() const { return flags & kLast; }  // of the tile
  __device__ bool none() const { return flags & kNone; }  // the tile has no steps
};

struct StepMaps {
  const CUtensorMap &Q, &K, &V, &DO;
  const View<const f32, 2>&L, &DELTA;
};

// Called by all lanes of a warp. Search says which steps a tile has under a mask, as OwnSearch does.
template <bool Ranked, class Smem, class Search> class GradientProducer {
 public:
  __device__ GradientProducer(Smem& smem, const StepMaps& from, const Search& search)
      : smem_(smem), from_(from), search_(search) {}

  // Draws items until none is left, and loads their tiles.
  __device__ void load(const Dims& dims, u32* drawn) {
    search_.await();
    while (draw(dims, drawn)) {
    }
  }

 private:
  static constexpr u32 kAll = 0xffffffff;
  static constexpr int kStep = sizeof(Smem::log_sum[0]) / sizeof(f32), kEach = kStep / 32;

  // Returns the slot of what a ring's users count as `index`, once it is free.
  template <int Slots> __device__ static u32 acquire(Pipeline<Slots>& ring, u32 index) {
    ring.empty[index % Slots].wait(index / Slots % 2 ^ 1);
    return index % Slots;
  }
  __device__ static bool is_first() { return elect(); }

  // Draws and publishes an item and loads its tile. Returns whether there was one.
  __device__ bool draw(const Dims& dims, u32* drawn) {
    const u32 slot = acquire(smem_.items, smem_.count);
    auto& to = smem_.drawn[slot];
    const int flags = smem_.all.draw(to, dims, drawn);
    if (is_first()) smem_.items.full[slot].arrive();
    __syncwarp();
    if (flags & kTile) load_tile(to.tile);
    if (is_first()) ++smem_.count;
    __syncwarp();
    return !(flags & kEnd);
  }

  template <class Work> __device__ void load_tile(const Work& work) {
    // Sequences of different lengths have an answer of their own each.
    if (kMaskGiven && (Work::kRagged || smem_.count == 0)) together_ = heads_together(search_, work);
    KeySteps<Work, Search> steps(work, search_, together_);
    GradientStep step = steps.next();
    if (!step.exists()) {
      const u32 own = acquire(smem_.own, smem_.count), slot = acquire(smem_.steps, count_);
      const u32 results = acquire(smem_.results, count_);
      if (is_first()) {
        smem_.records[count_ % kStepRecords].flags = StepRecord::kNone | StepRecord::kLast;
        smem_.own.full[own].arrive();
        smem_.steps.full[slot].arrive(2);
        smem_.results.full[results].arrive(2);
      }
      ++count_;
      return __syncwarp();
    }
    bool first = true;
#pragma unroll 1
    while (step.exists()) {
      const GradientStep after = steps.next();
      load_queries(work, step, !after.exists());
      if (first) load_own(work);
      load_results(work, step);
      ++count_;
      first = false;
      step = after;
    }
  }
  template <class Work> __device__ void load_own(const Work& work) {
    acquire(smem_.own, smem_.count);
    if (is_first()) {
      Barrier& full = smem_.own.full[0];
      full.expect(sizeof(smem_.keys) + sizeof(smem_.values));
      load_keys(smem_.keys, from_.K, full, work);
      load_keys(smem_.values, from_.V, full, work);
    }
    __syncwarp();
  }
  template <class Work> __device__ void load_queries(const Work& work, const GradientStep& step, bool last) {
    const int first = step.index() * Work::kStep;
    f32 exponent[kEach];
    each_query(first, work.queries, [&](int i, int query, bool exists) {
      exponent[i] = weight_exponent(exists ? work.numbers_of(from_.L, step.head)[query] : -infinity());
    });
    const int rank = Ranked ? rank_of(work, step) : 0;
    const u32 slot = acquire(smem_.steps, count_);
    if (is_first()) {
      smem_.steps.full[slot].expect(sizeof(smem_.queries[0]));
      load_rows(smem_.queries[slot], from_.Q, smem_.steps.full[slot], work, step.head, first);
      smem_.records[count_ % kStepRecords] = {work.number(step.head, step.index()), first, work.hook_head(step.head),
                                              (step.whole() ? StepRecord::kWhole : 0) | (last ? StepRecord::kLast : 0),
                                              rank};
    }
    publish(smem_.log_sum[slot], exponent, smem_.steps.full[slot]);
  }
  template <class Work> __device__ void load_results(const Work& work, const GradientStep& step) {
    const int first = step.index() * Work::kStep;
    f32 minus[kEach];
    each_query(first, work.queries, [&](int i, int query, bool exists) {
      minus[i] = exists ? -work.numbers_of(from_.DELTA, step.head)[query] : 0;
    });
    const u32 slot = acquire(smem_.results, count_);
    if (is_first()) {
      smem_.results.full[slot].expect(sizeof(smem_.result_gradients[0]));
      load_rows(smem_.result_gradients[slot], from_.DO, smem_.results.full[slot], work, step.head, first);
    }
    publish(smem_.minus_delta[slot], minus, smem_.results.full[slot]);
  }
  // Returns how many tiles of keys before this one, of those that add to the same sum, visit a step.
  template <class Work> __device__ int rank_of(const Work& work, const GradientStep& step) const {
    if constexpr (kMaskGiven)
      return search_.rank(work, step);
    else
      return work.rank(step.index());
  }
  // Calls f(i, query, whether it exists) for this lane's queries of a step.
  template <class F> __device__ static void each_query(int first, int queries, const F& f) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int query = first + i * 32 + threadIdx.x % 32;
      f(i, query, query < queries);
    }
  }
  // Stores the lanes' numbers of a step's queries and arrives.
  __device__ static void publish(f32 (&to)[kStep], const f32 (&x)[kEach], Barrier& full) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) to[i * 32 + threadIdx.x % 32] = x[i];
    __syncwarp();
    if (is_first()) full.arrive();
  }
  // By boxes of 64 rows, or of all rows where those are no multiple of 64; place_of(row) is where a row of the tile is
  // in the tensor.
  template <class Tile, class PlaceOf>
  __device__ static void load_boxes(Tile& tile, const CUtensorMap& map, Barrier& full, const PlaceOf& place_of) {
    constexpr int kBox = Tile::kRows % 64 == 0 ? 64 : Tile::kRows;
#pragma unroll
    for (int p = 0; p < tile.kPanels; ++p)
#pragma unroll
      for (int r = 0; r < tile.kRows; r += kBox) {
        auto place = place_of(r);
        place.at[0] = p * tile.kPanel;
        tma::load(&tile.panel[p][r], map, full, place.at);
      }
  }
  template <class Tile, class Work>
  __device__ static void load_rows(Tile& tile, const CUtensorMap& map, Barrier& full, const Work& work, int head,
                                   int first) {
    load_boxes(tile, map, full, [&](int row) { return work.query_at(head, first + row); });
  }
  // Consecutive tiles of an item's keys, or of its values.
  template <class Tile, int Tiles, class Work>
  __device__ static void load_keys(Tile (&tiles)[Tiles], const CUtensorMap& map, Barrier& full, const Work& work) {
#pragma unroll
    for (int i = 0; i < Tiles; ++i)
      load_boxes(tiles[i], map, full, [&](int row) { return work.key_at(work.first + i * Tile::kRows + row); });
  }

  Smem& smem_;
  const StepMaps& from_;
  const Search& search_;
  u32 count_ = 0;  // of steps
  bool together_ = false;
};

#endif

#pragma once
// What the blocks of attention's backward pass by wgmma share: a producer warp, two consumer warpgroups, and between
// them warps that tell when tiles have been added to the sums of the gradients of queries, and that round those of
// heads whose tiles are complete. T, HD, SIZE, VALUE_SIZE, STEP, STAGES, RESULTS and ATOMIC are the template's.
#include "device/pipeline/tma_attention_backward.cuh"
#include "device/ptx/acquire.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/uniform.cuh"
#include "device/tile/query_sums.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/shared_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr bool kOrdered = ATOMIC == 0;
constexpr int kRounders = 64;  // threads that round pieces of sums beside the consumers

template <class Items> struct BackwardSmem {
  using Work = typename Items::Work;

  SharedTile<T, 64, SIZE> keys[2];  // of each consumer
  SharedTile<T, 64, VALUE_SIZE> values[2];
  SharedTile<T, STEP, SIZE> queries[STAGES];
  SharedTile<T, STEP, VALUE_SIZE> result_gradients[RESULTS];
  SharedTile<T, 64, STEP> gradients[3][2];  // of the scores of three steps, of each consumer
  RoundedSums<kRounders> rounded;
  alignas(8) f32 log_sum[STAGES][STEP], minus_delta[RESULTS][STEP];
  StepRecord records[kStepRecords];
  Items all;  // that the grid draws
  DrawnItem<Work> drawn[2];
  u32 count;                  // of the items drawn, of which those with tiles come first
  Pipeline<STAGES> steps;     // queries, log_sum and records
  Pipeline<RESULTS> results;  // gradients of results and minus_delta
  Pipeline<1> own;            // keys and values
  Pipeline<2> items;          // of `drawn`
  Barrier published[2][2];    // of each consumer and even and odd steps: it has published the step
  Barrier turn[2][2];         // likewise: it may add what the step gives; only where the order is fixed
  Barrier given[2];           // of each consumer: it has added that, or where any order will do, all that a tile gives

  // Called by one thread, followed by a barrier of the block. Each warp but the producer reads every item.
  template <class... Offsets> __device__ void init(const Dims& dims, const Offsets&... offsets) {
    all = Items(dims, offsets...);
    count = 0;
    steps.init(2, 2);
    results.init(2, 2);
    own.init(2);
    items.init(11);
    for (auto& of : published) of[0].init(1), of[1].init(1);
    for (auto& of : turn) of[0].init(1), of[1].init(1);
    for (auto& of : given) of.init(4);
    fence_barrier_init();
  }
};

// The items that the producer draws, as a warp reads them, one after the other.
//   for (ItemReader items(smem); items.more(); items.next()) { ... items->tile ... }
template <class Smem> class ItemReader {
 public:
  __device__ explicit ItemReader(Smem& smem) : smem_(smem) { wait(); }

  __device__ bool more() const { return !has(kEnd); }
  __device__ bool has(ItemFlag flag) const { return uniform(smem_.drawn[count_ % 2].flags) & flag; }
  __device__ u32 index() const { return count_; }
  __device__ const auto* operator->() const { return &smem_.drawn[count_ % 2]; }
  __device__ void next() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) smem_.items.empty[count_ % 2].arrive();
    ++count_;
    wait();
  }

 private:
  __device__ void wait() { smem_.items.full[count_ % 2].wait(count_ / 2 % 2); }

  Smem& smem_;
  u32 count_ = 0;  // of the items before the current one
};

// Where the order of sums is fixed: gives a consumer its turn to add what each step of the tiles gives, once those of
// the tiles before have been added, and tells the tiles after. What a step gives is added during the second step after
// it, so that there is a step's time between. Called by one thread for each consumer.
template <class Smem> class Turns {
 public:
  __device__ Turns(Smem& smem, const QuerySums& sums, int consumer) : smem_(smem), sums_(sums), consumer_(consumer) {}

  __device__ void take_tile() {
    smem_.published[consumer_][count_ % 2].wait(count_ / 2 % 2);
    bool none = smem_.records[count_ % kStepRecords].none();
    while (!none) {
      const StepRecord& record = smem_.records[count_ % kStepRecords];
      u32* const rank = sums_.rank(record.number, consumer_);
      const int mine = record.rank;
      const bool last = record.last();
      global::await(rank, mine);
      smem_.turn[consumer_][count_ % 2].arrive();
      smem_.given[consumer_].wait(given_++ % 2);
      global::store_release(rank, mine + 1);
      if (last) break;
      ++count_;
    }
    if (none) smem_.turn[consumer_][count_ % 2].arrive();
    ++count_;
  }

 private:
  Smem& smem_;
  const QuerySums& sums_;
  const int consumer_;
  u32 count_ = 0, given_ = 0;  // steps, and those that give something
};

// Tells when tiles have been added to the sums, in their turn if the order is fixed. Called by a warp.
template <bool Ordered, class Smem> __device__ inline void add_tiles(Smem& smem, const QuerySums& sums) {
  const int lane = threadIdx.x % 32;
  Turns<Smem> turns(smem, sums, lane);
  u32 tiles = 0;
  for (ItemReader<Smem> items(smem); items.more(); items.next()) {
    if (!items.has(kTile)) continue;
    if (lane < 2) {
      if constexpr (Ordered)
        turns.take_tile();
      else
        smem.given[lane].wait(tiles % 2);
    }
    ++tiles;
    __syncwarp();
    if (lane == 0) global::add_release(sums.added(items->tile.kv_head), 2);
  }
}

// The kernel's body, once shared memory has been initialised. Consumer is a consumer warpgroup's class, and
// round(piece, copies, thread, barrier) rounds the sums of a piece through the shared memory of `copies`.
template <template <class> class Consumer, class Smem, class Round>
__device__ inline void make_gradients(Smem& smem, const StepMaps& from, const Round& round, const View<T, 3>& DK,
                                      const View<T, 3>& DV, const QuerySums& sums, f32 scale, const Dims& dims,
                                      const Hooks& hooks) {
  const int thread = threadIdx.x - 2 * kWarpgroup, warp = thread / 32;
  if (thread >= 0) {
    give_registers<56>();
    if (warp == 0) {
      GradientProducer<kOrdered, Smem>(smem, from, hooks).load(dims, sums.counters);
    } else if (warp == 1) {
      add_tiles<kOrdered>(smem, sums);
    } else {
      for (ItemReader<Smem> items(smem); items.more(); items.next()) {
        if (!Smem::Work::kRagged && items.has(kTile) && items.has(kPiece))
          round(items->piece, smem.rounded, thread - kWarpgroup + kRounders, 4);
      }
    }
    __syncwarp();
  } else {
    take_registers<224>();
    Consumer<Smem> consumer(smem, hooks, scale, sums);
    for (ItemReader<Smem> items(smem); items.more(); items.next()) {
      if (items.has(kTile)) {
        consumer.make(items->tile, items.index(), DK, DV);
      } else if (items.has(kPiece)) {
        using Copies = RoundedSums<2 * kWarpgroup>;
        static_assert(sizeof(Copies) <= sizeof(smem.gradients));
        sync(5, 2 * kWarpgroup);  // after which no consumer reads gradients of scores
        round(items->piece, reinterpret_cast<Copies&>(smem.gradients), threadIdx.x, 3);
      }
    }
    __syncwarp();
  }
}

#endif

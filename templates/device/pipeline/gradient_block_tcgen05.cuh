#pragma once
// The block of attention's backward pass by tcgen05: 128 keys of a head against steps of 128 queries, or where heads
// have more than 128 elements 64 of each. A warp loads; one thread issues the products; two warpgroups make weights and
// gradients of scores, each of half of a step's queries; a third one adds what a step gives to the sums of the
// gradients of queries; and two warps round sums that are complete or, where sequences end within tiles, clear what
// follows them. Scores are transposed: a lane of tensor memory for each key, a column for each query. T, WIDE, TILE,
// SIZE, VALUE_SIZE, STEP, STAGES, RESULTS and ATOMIC are the template's.
#include "device/pipeline/item_reader.cuh"
#include "device/pipeline/tma_attention_backward.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/tcgen05_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr bool kOrdered = ATOMIC == 0;
constexpr int kWeighThreads = 2 * kWarpgroup;
constexpr int kAddWarp = 8, kMultiplyWarp = 12, kLoadWarp = 13, kRestWarp = 14;  // the first of each role

// Where products are in tensor memory. Those of 128 rows have columns of their own. The weights of a step are in place
// of its scores, those of each 64 queries in the first half of theirs, and what a step gives to the gradients of
// queries is in place of the gradients of its weights, unless there is room for both.
constexpr bool kRoomy = SIZE == 64;
constexpr u32 kColumns = 512;
template <bool Wide> struct ProductPlaces {
  static constexpr u32 scores = 0, slopes = 128, value_sums = 256, key_sums = value_sums + VALUE_SIZE,
                       query_sums = kRoomy ? 384 : slopes;
  static_assert(Wide || key_sums + SIZE <= (kRoomy ? query_sums : kColumns));
  template <int Columns> using Layout = layout::Lane<Columns>;  // of what a warp loads of them
};
// Those of 64 rows have 16 of each 32 lanes, so that two are in the same columns. Weights are in shared memory.
template <> struct ProductPlaces<true> {
  static constexpr u32 others = tensor_memory::at(0, 16, 0);
  static constexpr u32 key_sums = 0, value_sums = others, query_sums = 256, scores = others + 256, slopes = scores + 64;
  template <int Columns> using Layout = layout::Mma<16, Columns>;
};
using Places = ProductPlaces<WIDE>;
constexpr int kRowsOfWarp = TILE / 4;  // keys that are in the lanes of a warp
// Whether the gradients of weights and what a step gives to the gradients of queries are in different places.
constexpr bool kApart = kRoomy || WIDE;

template <class Items> struct BackwardSmem {
  using Work = typename Items::Work;

  SharedTile<T, TILE, SIZE> keys[1];
  SharedTile<T, TILE, VALUE_SIZE> values[1];
  SharedTile<T, STEP, SIZE> queries[STAGES];
  SharedTile<T, STEP, VALUE_SIZE> result_gradients[RESULTS];
  SharedTile<T, TILE, STEP> gradients[WIDE ? 2 : 1];  // of a step's scores, and after them its weights
  alignas(16) f32 log_sum[STAGES][STEP], minus_delta[RESULTS][STEP];
  StepRecord records[kStepRecords];
  Items all;  // that the grid draws
  DrawnItem<Work> drawn[2];
  u32 count;                  // of the items drawn, of which those with tiles come first
  Pipeline<STAGES> steps;     // queries, log_sum and records
  Pipeline<RESULTS> results;  // gradients of results and minus_delta
  Pipeline<1> own;            // keys and values
  Pipeline<2> items;          // of `drawn`
  // What follows a sequence's last row has been cleared: in a tile's keys and values, and in a slot's queries and the
  // gradients of their results.
  Barrier own_cleared, queries_cleared[STAGES], results_cleared[RESULTS];
  // Of each step: its scores are made, and have become weights; the gradients of the weights are made, and have become
  // those of scores, and are in shared memory; its part of DQ is made, and has been read.
  Barrier scored, weighed, sloped, derived, summed, taken;
  Barrier made, stored;  // of each tile that has steps: DK and DV are complete, and have been read
  u32 address;           // in tensor memory

  // Called by one thread, followed by a barrier of the block. Each warp but the producer reads every item.
  template <class... Offsets> __device__ void init(const Dims& dims, const Offsets&... offsets) {
    all = Items(dims, offsets...);
    count = 0;
    steps.init(9, 2);  // one thread that multiplies, eight warps that weigh
    results.init(9, 2);
    own.init(1);
    items.init(15);
    own_cleared.init(2);
    for (Barrier& cleared : queries_cleared) cleared.init(1);
    for (Barrier& cleared : results_cleared) cleared.init(1);
    scored.init(1);
    weighed.init(8);
    sloped.init(1);
    derived.init(8);
    summed.init(2);
    taken.init(4);
    made.init(1);
    stored.init(8);
    fence_barrier_init();
  }
  __device__ const StepRecord& record(u32 step) const { return records[step % kStepRecords]; }
};

// Arrives after what a warp has done, also with tensor memory. Called by all its lanes.
__device__ inline void arrive_warp(Barrier& barrier) {
  tcgen05::fence_before();
  __syncwarp();
  if (threadIdx.x % 32 == 0) barrier.arrive();
}

// The beginning and the end of a block. Called by all threads.
template <class Smem, class... Offsets>
__device__ inline void begin(Smem& smem, const Dims& dims, const Offsets&... offsets) {
  if (threadIdx.x == 0) smem.init(dims, offsets...);
  if (threadIdx.x / 32 == kMultiplyWarp) {
    tensor_memory::alloc<kColumns>(&smem.address);
    tensor_memory::relinquish_alloc_permit();
  }
  tcgen05::fence_before();
  __syncthreads();
  tcgen05::fence_after();
}
template <class Smem> __device__ inline void end(Smem& smem) {
  tcgen05::fence_before();  // tensor memory must be freed after its last use by any thread
  __syncthreads();
  if (threadIdx.x / 32 == kMultiplyWarp) tensor_memory::dealloc<kColumns>(smem.address);
}

// Clears what follows a sequence's last row, so that it has no influence where it is not finite: the keys and queries,
// or the values and the gradients of results. Called by one of two warps.
template <class Smem> class RowsCleaner {
 public:
  __device__ RowsCleaner(Smem& smem, bool second) : smem_(smem), second_(second) {}

  __device__ void clear_tile(const typename Smem::Work& work, u32 index) {
    smem_.own.full[0].wait(index % 2);
    const int keys = work.keys - work.first;
    if (second_)
      clear_from(smem_.values[0], keys, smem_.own_cleared);
    else
      clear_from(smem_.keys[0], keys, smem_.own_cleared);
    bool last = false;
#pragma unroll 1
    while (!last) last = clear_step(work);
  }

 private:
  // Returns whether the step is the tile's last.
  __device__ bool clear_step(const typename Smem::Work& work) {
    smem_.steps.full[count_ % STAGES].wait(count_ / STAGES % 2);
    const StepRecord& record = smem_.record(count_);
    const int queries = record.none() ? STEP : work.queries - record.query;
    const bool last = record.last();
    if (second_) {
      const u32 slot = count_ % RESULTS;
      smem_.results.full[slot].wait(count_ / RESULTS % 2);
      clear_from(smem_.result_gradients[slot], queries, smem_.results_cleared[slot]);
    } else {
      const u32 slot = count_ % STAGES;
      clear_from(smem_.queries[slot], queries, smem_.queries_cleared[slot]);
    }
    ++count_;
    return last;
  }
  template <class Tile> __device__ static void clear_from(Tile& tile, int row, Barrier& cleared) {
    if (row < Tile::kRows) {
      clear_rows<32>(tile, row, threadIdx.x % 32);
      fence::proxy_async_shared();
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) cleared.arrive();
  }

  Smem& smem_;
  const bool second_;
  u32 count_ = 0;  // of steps
};

#endif

#pragma once
// The tiles of attention by wgmma of sequences of one length: every n-th of a list or, under a mask, drawn from it. The
// params of these files, Dims, Hooks, Smem and what it includes of device/schedule are the template's.
#include "device/pipeline/found_steps.cuh"
#include "device/pipeline/published_tiles.cuh"
#include "device/pipeline/step_table.cuh"
#include "device/tile/attention_hooks.cuh"

#ifndef TMA_JIT_REFERENCE

using Order = AttentionOrder<BM, BN, CAUSAL == 1 || kMaskGiven>;
using Tiles = AttentionTiles<BM, BN, PERSISTENT, CAUSAL == 1, CLUSTER>;
using Work = Order::Work;

// Under a mask it is not known how many steps a tile has: a warp finds them, and the blocks draw their tiles. What this
// has beyond Smem is there only then.
struct Block : Smem {
  using Work = Order::Work;
  FoundSteps<Work> found;
  Work work[SLOTS];  // of the tile whose queries are in the slot
};
static_assert(!kMaskGiven || sizeof(Block) <= SMEM + 1024);
using Published = PublishedTiles<CONSUMERS, SLOTS, Block, Work>;

// Initialises the barriers of what is found. Called by one thread, before the block's barrier.
__device__ inline void init_found(Block& smem) {
  if constexpr (kMaskGiven) smem.found.ring.init(1);
}

// The block's tiles for a consumer of its own number, where every role counts them itself.
class OwnTiles : public Tiles {
 public:
  __device__ OwnTiles(Block& smem, const Dims& dims, int consumer) : Tiles(dims), queries_(smem.queries) {
    queries_.skip(consumer);
  }
  // Returns the slot of the consumer's queries once it is full. Called once a tile.
  __device__ u32 slot() {
    const u32 slot = queries_.wait();
    queries_.skip(CONSUMERS - 1);
    return slot;
  }

 private:
  Consumer<SLOTS, 1> queries_;
};

// Returns the block's tiles for a consumer.
__device__ inline auto tiles_of(Block& smem, const Dims& dims, int consumer) {
  if constexpr (kMaskGiven)
    return Published(smem, consumer);
  else
    return OwnTiles(smem, dims, consumer);
}

// The search for the steps that a mask leaves. `counters` are four words, 0 before and after each launch; `bits` has
// room for the StepTable of all rows of tiles.
class Search {
 public:
  __device__ Search(const Dims& dims, const Hooks& hooks, u8* counters, u8* bits)
      : dims_(dims),
        hooks_(hooks),
        drawn_(reinterpret_cast<u32*>(counters)),
        table_(bits, drawn_ + 1, ceil_div<u32>(dims.M, BM), ceil_div<u32>(dims.N, BN)) {}

  // Does what all heads have in common. Called by all threads of the block.
  __device__ void begin() const {
    if constexpr (kOnce)
      table_.make([&](int row, int part) {
        const Work work(dims_, row, 0);
        return StepLooks<BN, TileMask<Work>>(work.steps, dims_.N, {hooks_, work}).look(part, false);
      });
  }
  // Draws the block's tiles and finds their steps. Called by a warp.
  __device__ void run(FoundSteps<Work>& found) const {
    if constexpr (kOnce) table_.await();
    DrawnTiles<Order, PERSISTENT> tiles(dims_, drawn_);
    find_steps(found, tiles, [&](const Work& work) {
      if constexpr (kOnce)
        return table_.steps(work.first / BM);
      else
        return SeenSteps<BN, TileMask<Work>>(work.steps, dims_.N, {hooks_, work});
    });
  }

 private:
  static constexpr bool kOnce = kMaskFoundOnce && PERSISTENT == 1;

  const Dims& dims_;
  const Hooks& hooks_;
  u32* drawn_;
  StepTable table_;
};

#endif

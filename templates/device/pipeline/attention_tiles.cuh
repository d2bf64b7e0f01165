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

// Calls attention.attend for each of the block's tiles. Called by one consumer warpgroup.
template <class Attention>
__device__ inline void attend_all(Block& smem, const Dims& dims, int consumer, Attention& attention) {
  if constexpr (kMaskGiven) {
    for (Published tiles(smem, consumer); uniform(tiles.more()); tiles.next())
      attention.attend(tiles.work(), tiles.slot());
  } else {
    Consumer queries(smem.queries);
    queries.skip(consumer);
    for (Tiles tiles(dims); tiles.more(); tiles.next()) {
      const u32 slot = queries.wait();
      queries.skip(CONSUMERS - 1);
      attention.attend(tiles.work(), slot);
    }
  }
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
        return StepLooks<BN, TileMask<Work>>(work.steps, dims_.N, {hooks_, work}).near(part);
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
  static constexpr bool kOnce = Hooks::mask_reads && kMaskSameForHeads && PERSISTENT == 1;

  const Dims& dims_;
  const Hooks& hooks_;
  u32* drawn_;
  StepTable table_;
};

#endif

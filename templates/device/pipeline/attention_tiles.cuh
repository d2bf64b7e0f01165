#pragma once
// The tiles of attention by wgmma of sequences of one length: every n-th of a list or, under a mask, drawn from it. The
// params of these files, Dims, Hooks, Smem and what it includes of device/schedule are the template's.
#include "device/pipeline/found_steps.cuh"
#include "device/pipeline/published_tiles.cuh"
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

// Draws the block's tiles and finds their steps. Called by a warp, under a mask.
__device__ inline void find_all(Block& smem, u32* counter, const Dims& dims, const Hooks& hooks) {
  DrawnTiles<Order, PERSISTENT> tiles(dims, counter);
  find_steps(smem.found, tiles, [&](const Work& work) {
    return SeenSteps<BN, TileMask<Work>>(work.steps, dims.N, {hooks, work});
  });
}

#endif

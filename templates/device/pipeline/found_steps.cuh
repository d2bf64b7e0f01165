#pragma once
// The tiles and steps of attention under a mask, found by a warp of their own and read by the one that loads, so that
// the search of a tile goes on while the loads of the tiles before it are on their way.
#include "device/pipeline/pipeline.cuh"
#include "device/pipeline/seen_steps.cuh"

// Filled with the steps of one tile after the other, the last of which is marked; of a tile that has none, that there
// is none; and after all tiles kOver. The first step of a tile comes with the tile.
template <class Work> struct FoundSteps {
  static constexpr int kSlots = 8, kOver = -2;

  Pipeline<kSlots> ring;
  int seen[kSlots];
  Work work[kSlots];
};

// Fills the ring. find(work) is a tile's SeenSteps, or other StepsOf it. Called by a warp.
template <class Work, class Tiles, class Find>
__device__ inline void find_steps(FoundSteps<Work>& found, Tiles& tiles, Find find) {
  Producer ring(found.ring);
  const bool one = threadIdx.x % 32 == 0;
  for (; tiles.more(); tiles.next()) {
    const Work work = tiles.work();
    auto steps = find(work);
    int seen = SeenStep::kEnd;
#pragma unroll 1
    for (int looks = 0, after = 0; after >= 0; ++looks, seen = after) {
      after = steps.next();
      const bool known = looks > 0 || after < 0;  // whether `seen` is the last, or that there is none
      if (!known || !one) continue;
      const u32 slot = ring.acquire();
      found.seen[slot] = SeenStep::before(seen, after);
      if (looks <= 1) found.work[slot] = work;
      found.ring.full[slot].arrive();
    }
  }
  if (one) {
    const u32 slot = ring.acquire();
    found.seen[slot] = FoundSteps<Work>::kOver;
    found.ring.full[slot].arrive();
  }
  __syncwarp();
}

// Reads it, tile by tile:
//   for (FoundTiles<Work, ...> tiles(found); tiles.next();)
//     for (; tiles.seen >= 0; tiles.advance()) { ... tiles.work, tiles.step() ... }
// ByWarp states that a whole warp reads, else one thread.
template <class Work, bool ByWarp> class FoundTiles {
 public:
  __device__ explicit FoundTiles(FoundSteps<Work>& found) : found_(found), ring_(found.ring) {}

  Work work;
  int seen = 0;  // the present SeenStep of the tile, negative if there is none

  __device__ bool next() {
    const u32 slot = ring_.wait();
    seen = found_.seen[slot];
    if (seen == FoundSteps<Work>::kOver) return false;
    work = found_.work[slot];
    release(slot);
    return true;
  }
  __device__ void advance() {
    if (SeenStep::is_last(seen)) {
      seen = SeenStep::kEnd;
      return;
    }
    const u32 slot = ring_.wait();
    seen = found_.seen[slot];
    release(slot);
  }
  __device__ int step() const { return SeenStep::step(seen); }

 private:
  __device__ void release(u32 slot) {
    if constexpr (ByWarp) __syncwarp();
    if (!ByWarp || threadIdx.x % 32 == 0) found_.ring.empty[slot].arrive();
  }

  FoundSteps<Work>& found_;
  Consumer<FoundSteps<Work>::kSlots, 1> ring_;
};

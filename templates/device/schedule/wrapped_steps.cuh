#pragma once
// Where a head's tiles of keys begin, if all of them begin at once: at different steps, from which they go down to the
// first and then from the last to where they began. Tiles that began together at one step would all add to the sums of
// the same step at a time; so each comes to a step when the tile before it has left it. Each step has two sums, of what
// tiles give before they have wrapped around, and of what they give afterwards, to each of which they add in ascending
// order: a tile waits only for tiles before it, so that blocks which process tiles in ascending order need not be
// resident together.
#include "device/types.cuh"

struct WrappedSteps {
  int steps, tiles;  // of a head

  // Returns the step at which a tile begins.
  __device__ int first(int tile) const { return tile % turn() * stride(); }
  // Returns whether a tile comes to a step after it has wrapped around.
  __device__ bool wraps(int tile, int step) const { return step > first(tile); }
  // Returns how many tiles before this one add to the same sum of a step.
  __device__ int rank(int tile, int step) const {
    const int wrapped = min(static_cast<int>(ceil_div<u32>(step, stride())), turn());  // tiles of each turn
    const int turns = tile / turn(), of_turn = tile % turn();
    return of_turn < wrapped ? turns * wrapped + of_turn : turns * (turn() - wrapped) + of_turn - wrapped;
  }

 private:
  // Tiles that begin at different steps, and how many steps apart.
  __device__ int turn() const { return max(1, min(steps, tiles)); }
  __device__ int stride() const { return max(1, steps / max(1, tiles)); }
};

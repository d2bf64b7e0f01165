#pragma once
#include "device/pipeline/pipeline.cuh"

// The tiles that the producer of a block publishes in `smem.work`, an element for each slot of `smem.queries`, as the
// threads that use them learn them; after the last follows one without rows. Used as AttentionTiles.
template <int Consumers, int Slots, class Smem, class Tile> class PublishedTiles {
 public:
  using Work = Tile;

  // `consumer` is the first slot of this consumer; a tile has a slot for each.
  __device__ PublishedTiles(Smem& smem, int consumer) : smem_(smem), queries_(smem.queries) {
    queries_.skip(consumer);
    next();
  }
  __device__ bool more() const { return work().more(); }
  __device__ const Work& work() const { return smem_.work[slot_]; }
  __device__ u32 slot() const { return slot_; }
  __device__ void next() {
    slot_ = queries_.wait();
    queries_.skip(Consumers - 1);
  }

 private:
  Smem& smem_;
  Consumer<Slots, 1> queries_;
  u32 slot_;
};

#pragma once
// Tiles that the blocks of a grid draw while they run, for kernels that share the device with others: a block that
// begins late, because another kernel has its SM, or that is slower, draws fewer. The producer of a block draws numbers
// of tiles from a counter in global memory, one ahead, and publishes them to the consumers in shared memory.
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/griddepcontrol.cuh"

// In shared memory: the numbers that the producer has drawn and the consumers have not all learnt. The empty one is for
// kernels without it.
template <bool Used> struct DrawnNumbers {
  static constexpr int kSlots = 4;
  int number[kSlots];
  Pipeline<kSlots> pipeline;

  // As Pipeline::init, for the warps of the consumers.
  __device__ void init(int warps) { pipeline.init(warps); }
};
template <> struct DrawnNumbers<false> {
  __device__ void init(int) {}
};

// The tiles of `Tiles` as the producer draws them; used by one thread. The counter is 0 before and after each launch:
// each block draws one number beyond the last tile, and who draws the last of these resets the counter. The first draw
// waits for the kernel before this one, which may use the same counter.
template <class Tiles> class DrawingTiles : public Tiles {
 public:
  __device__ DrawingTiles(const Tiles& tiles, DrawnNumbers<true>& drawn, u32* counter)
      : Tiles(tiles), drawn_(drawn), counter_(counter) {}

  class Index {
   public:
    __device__ explicit Index(const DrawingTiles& tiles)
        : tiles_(tiles), producer_(tiles.drawn_.pipeline), ahead_(atomicAdd(tiles.counter_, 1)) {
      ++*this;
    }
    __device__ int operator*() const { return number_; }
    __device__ bool operator!=(int end) const { return number_ < end; }
    __device__ void operator++() {
      number_ = ahead_;
      const u32 slot = producer_.acquire();
      tiles_.drawn_.number[slot] = number_;
      tiles_.drawn_.pipeline.full[slot].arrive();
      if (number_ < tiles_.end())
        ahead_ = atomicAdd(tiles_.counter_, 1);
      else if (number_ == tiles_.end() + static_cast<int>(gridDim.x) - 1)
        *tiles_.counter_ = 0;
    }

   private:
    const DrawingTiles& tiles_;
    Producer<DrawnNumbers<true>::kSlots, 1> producer_;
    int ahead_, number_;
  };
  __device__ Index begin() const {
    grid::wait();
    return Index(*this);
  }
  __device__ int end() const { return *Tiles::end(); }

 private:
  DrawnNumbers<true>& drawn_;
  u32* counter_;
};

// The same tiles as the threads of a consumer learn them; its warps go through them together.
template <class Tiles> class LearntTiles : public Tiles {
 public:
  __device__ LearntTiles(const Tiles& tiles, DrawnNumbers<true>& drawn) : Tiles(tiles), drawn_(drawn) {}

  class Index {
   public:
    __device__ explicit Index(DrawnNumbers<true>& drawn) : drawn_(drawn), consumer_(drawn.pipeline) { ++*this; }
    __device__ int operator*() const { return number_; }
    __device__ bool operator!=(int end) const { return number_ < end; }
    __device__ void operator++() {
      const u32 slot = consumer_.wait();
      number_ = drawn_.number[slot];
      __syncwarp();
      if (threadIdx.x % 32 == 0) drawn_.pipeline.empty[slot].arrive();
    }

   private:
    DrawnNumbers<true>& drawn_;
    Consumer<DrawnNumbers<true>::kSlots, 1> consumer_;
    int number_;
  };
  __device__ Index begin() const { return Index(drawn_); }
  __device__ int end() const { return *Tiles::end(); }

 private:
  DrawnNumbers<true>& drawn_;
};

// What a kernel's producer and consumers use: without a DrawnNumbers the tiles as they are.
template <class Tiles>
__device__ inline DrawingTiles<Tiles> drawing(const Tiles& tiles, DrawnNumbers<true>& drawn, u8* counter) {
  return {tiles, drawn, reinterpret_cast<u32*>(counter)};
}
template <class Tiles> __device__ inline const Tiles& drawing(const Tiles& tiles, DrawnNumbers<false>&, u8*) {
  return tiles;
}
template <class Tiles> __device__ inline LearntTiles<Tiles> learning(const Tiles& tiles, DrawnNumbers<true>& drawn) {
  return {tiles, drawn};
}
template <class Tiles> __device__ inline const Tiles& learning(const Tiles& tiles, DrawnNumbers<false>&) {
  return tiles;
}

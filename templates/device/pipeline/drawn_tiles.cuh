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
    __device__ Index(DrawnNumbers<true>& drawn, u32* counter, int end)
        : drawn_(drawn), producer_(drawn.pipeline), counter_(counter), end_(end), ahead_(atomicAdd(counter, 1)) {
      ++*this;
    }
    __device__ int operator*() const { return number_; }
    __device__ bool operator!=(int end) const { return number_ < end; }
    __device__ void operator++() {
      number_ = ahead_;
      const u32 slot = producer_.acquire();
      drawn_.number[slot] = number_;
      drawn_.pipeline.full[slot].arrive();
      if (number_ < end_)
        ahead_ = atomicAdd(counter_, 1);
      else if (number_ == end_ + static_cast<int>(gridDim.x) - 1)
        *counter_ = 0;
    }

   private:
    DrawnNumbers<true>& drawn_;
    Producer<DrawnNumbers<true>::kSlots, 1> producer_;
    u32* counter_;
    int end_, ahead_, number_;
  };
  __device__ Index begin() const {
    grid::wait();
    return Index(drawn_, counter_, end());
  }
  __device__ int end() const { return *Tiles::end(); }

 private:
  DrawnNumbers<true>& drawn_;
  u32* counter_;
};

// The same tiles as the threads of a consumer learn them. Each of its warps goes through them together, or one thread
// of it does Alone.
template <class Tiles, bool Alone = false> class LearntTiles : public Tiles {
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
      if constexpr (!Alone) __syncwarp();
      if (Alone || threadIdx.x % 32 == 0) drawn_.pipeline.empty[slot].arrive();
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
template <class Tiles> __device__ inline Tiles drawing(const Tiles& tiles, DrawnNumbers<false>&, u8*) {
  return tiles;
}
template <bool Alone = false, class Tiles>
__device__ inline LearntTiles<Tiles, Alone> learning(const Tiles& tiles, DrawnNumbers<true>& drawn) {
  return {tiles, drawn};
}
template <bool Alone = false, class Tiles> __device__ inline Tiles learning(const Tiles& tiles, DrawnNumbers<false>&) {
  return tiles;
}

#pragma once
// Tiles whose clusters have not begun, taken over by those that run, for sm_100 and newer: the grid has a cluster for
// each tile, and one that is done with its own requests another from the hardware, one ahead. Kernels that share the
// device can have the SMs between tiles, and no cluster waits for a busy one.
#include "device/pipeline/drawn_tiles.cuh"
#include "device/ptx/clusterlaunchcontrol.cuh"

// In shared memory of each of Blocks blocks of a cluster. The empty one is for kernels without it.
template <bool Used, int Blocks> struct CancelledLaunches {
  static constexpr int kSlots = 2;
  launch_control::Response answers[kSlots];
  Barrier answered[kSlots];  // counts the bytes of an answer
  Barrier read[kSlots];      // the even block's: every block's producer has read its copy
  DrawnNumbers<true> drawn;

  // As Pipeline::init. `learners` are the warps of this block that learn the numbers.
  __device__ void init(int learners) {
    for (int i = 0; i < kSlots; ++i) {
      answered[i].init(1);
      read[i].init(Blocks);
    }
    drawn.init(learners);
  }
};
template <int Blocks> struct CancelledLaunches<false, Blocks> {
  DrawnNumbers<false> drawn;
  __device__ void init(int) {}
};

// The tiles of `Tiles` as the producer of each block gets them; used by one thread. The first one requests answers for
// all blocks.
template <class Tiles, int Blocks> class CancellingTiles : public Tiles {
  using Launches = CancelledLaunches<true, Blocks>;

 public:
  __device__ CancellingTiles(const Tiles& tiles, Launches& launches) : Tiles(tiles), launches_(launches) {}

  class Index {
   public:
    __device__ Index(Launches& launches, int first, int end)
        : launches_(launches), producer_(launches.drawn.pipeline), number_(first), end_(end) {
      request();
      publish();
    }
    __device__ int operator*() const { return number_; }
    __device__ bool operator!=(int end) const { return number_ < end; }
    __device__ void operator++() {
      launches_.answered[ring_.slot].wait(ring_.phase);
      const int block = launch_control::first_block(launches_.answers[ring_.slot]);
      number_ = block < 0 ? end_ : block / Blocks;
      fence::proxy_async_shared();  // the answer is read before the next one is written
      if constexpr (Blocks == 1)
        launches_.read[ring_.slot].arrive();
      else
        launches_.read[ring_.slot].arrive_release_at(0);
      ring_.advance();
      if (number_ < end_) request();
      publish();
    }

   private:
    // Requests the answer in the ring's present slot, which all blocks have read before.
    __device__ void request() {
      launches_.answered[ring_.slot].expect(sizeof launches_.answers[0]);
      if (Blocks > 1 && cluster::rank() > 0) return;
      launches_.read[ring_.slot].wait_cluster(ring_.phase ^ 1);
      launch_control::try_cancel<Blocks>(launches_.answers[ring_.slot], launches_.answered[ring_.slot]);
    }
    __device__ void publish() {
      const u32 slot = producer_.acquire();
      launches_.drawn.number[slot] = number_;
      launches_.drawn.pipeline.full[slot].arrive();
    }

    Launches& launches_;
    Producer<DrawnNumbers<true>::kSlots, 1> producer_;
    Ring<Launches::kSlots> ring_;
    int number_, end_;
  };
  __device__ Index begin() const { return Index(launches_, blockIdx.x / Blocks, end()); }
  __device__ int end() const { return *Tiles::end(); }

 private:
  Launches& launches_;
};

// What a kernel's producer uses: without CancelledLaunches the tiles as they are.
template <class Tiles, int Blocks>
__device__ inline CancellingTiles<Tiles, Blocks> cancelling(const Tiles& tiles,
                                                            CancelledLaunches<true, Blocks>& launches) {
  return {tiles, launches};
}
template <class Tiles, int Blocks>
__device__ inline Tiles cancelling(const Tiles& tiles, CancelledLaunches<false, Blocks>&) {
  return tiles;
}

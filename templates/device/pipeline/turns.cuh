#pragma once
// Ping-pong: two consumer warpgroups process a block's tiles alternately from one ring, so that one multiplies while
// the other stores. Parities repeat after two phases: a thread that waited for a slot more than one pass of the ring
// ahead would see an old phase as complete. Therefore a consumer begins its tile only after the other has waited for
// all slots of the previous tile.
#include "device/ptx/mbarrier.cuh"

struct Turns {
  Barrier ended[2];  // [i]: completed when the warps of consumer i have waited for the last slot of a tile

  // Called by one thread, before the pipeline's init and the barrier after it.
  __device__ void init() {
    ended[0].init(4);
    ended[1].init(4);
  }
};

// One consumer's turns; held by each of its threads. Consumer 0 begins.
class Turn {
 public:
  __device__ Turn(Turns& turns, int consumer) : turns_(turns), consumer_(consumer), parity_(consumer ^ 1) {}

  __device__ void begin() {
    turns_.ended[consumer_ ^ 1].wait(parity_);
    parity_ ^= 1;
  }
  // Called by all threads, after an instruction that reconverges each warp and follows its last wait for a slot.
  __device__ void end() {
    if (threadIdx.x % 32 == 0) turns_.ended[consumer_].arrive();
  }

 private:
  Turns& turns_;
  int consumer_;
  u32 parity_;
};

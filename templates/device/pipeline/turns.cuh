#pragma once
// Ping-pong: two consumer warpgroups that take the tiles of a block in turn from one ring, so that one multiplies while
// the other stores. Parities repeat: a thread that waited for a slot more than one pass of the ring ahead would find an
// old phase complete. So a consumer begins its tile only once the other has waited for all slots of the tile before.
#include "device/ptx/mbarrier.cuh"

struct Turns {
  Barrier ended[2];  // [i]: the warps of consumer i have waited for the last slot of a tile

  // By one thread, before the pipeline's init and the barrier behind it.
  __device__ void init() {
    ended[0].init(4);
    ended[1].init(4);
  }
};

// One consumer's turns; each of its threads has one. Consumer 0 takes the first.
class Turn {
 public:
  __device__ Turn(Turns& turns, int consumer) : turns_(turns), consumer_(consumer), parity_(consumer ^ 1) {}

  __device__ void begin() {
    turns_.ended[consumer_ ^ 1].wait(parity_);
    parity_ ^= 1;
  }
  // By all threads, after an instruction that brings the lanes of a warp together and follows their last wait for a
  // slot.
  __device__ void end() {
    if (threadIdx.x % 32 == 0) turns_.ended[consumer_].arrive();
  }

 private:
  Turns& turns_;
  int consumer_;
  u32 parity_;
};

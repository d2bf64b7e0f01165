#pragma once
// Ping-pong within a tile: the consumer warpgroups of a block start their products in rotation, so that the others
// compute with registers meanwhile. Uses the named barriers 1 to Consumers.
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"

// One consumer's turns; called by all threads of its warpgroup. All consumers take as many. Consumer 0 begins.
template <int Consumers> class Rotation {
 public:
  __device__ explicit Rotation(int consumer) : consumer_(consumer) {
    if (Consumers > 1 && consumer == Consumers - 1) arrive(1, 2 * kWarpgroup);
  }
  __device__ void begin() {
    if (Consumers > 1) sync(1 + consumer_, 2 * kWarpgroup);
  }
  __device__ void end() {
    if (Consumers > 1) arrive(consumer_ == Consumers - 1 ? 1 : 2 + consumer_, 2 * kWarpgroup);
  }
  // Called last: takes the turn that remains.
  __device__ void finish() {
    if (Consumers > 1 && consumer_ == 0) sync(1, 2 * kWarpgroup);
  }

 private:
  int consumer_;
};

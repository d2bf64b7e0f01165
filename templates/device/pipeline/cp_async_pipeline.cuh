#pragma once
// A ring of slots that all threads of a block fill with cp.async and all read, sm_80 and newer. A thread acquires a
// slot, starts its copies into it and commits them; wait returns the next slot for reading. commit and wait move on to
// the next slot by themselves. Invariants: Stages - 1 slots are committed before the first wait, and one between two
// waits, an empty one where there is nothing left to copy; a slot that wait returned is read until the next wait.
#include "device/ptx/cp_async.cuh"

template <int Stages> class CpAsyncPipeline {
  static_assert(Stages >= 2);

 public:
  // The slot to fill: nobody reads it any more.
  __device__ u32 acquire() const { return filling_; }
  __device__ void commit() {
    cp_async::commit();
    filling_ = next(filling_);
  }
  // The next slot, once its bytes have arrived for every thread and no thread reads the one before. By the whole block.
  __device__ u32 wait() {
    cp_async::wait<Stages - 2>();
    __syncthreads();
    const u32 slot = reading_;
    reading_ = next(reading_);
    return slot;
  }

 private:
  __device__ static u32 next(u32 slot) { return slot + 1 == Stages ? 0 : slot + 1; }

  u32 filling_ = 0, reading_ = 0;
};

#pragma once
// A ring of slots that all threads of a block, or of a warp, fill with cp.async and all read, for sm_80 and newer. A
// thread acquires a slot, starts its copies into it and commits them; `wait` returns the next slot to read. `commit`
// and `wait` advance to the next slot. Invariants: Stages - 1 slots are committed before the first wait, and one
// between two waits (an empty one if there is nothing left to copy). A slot returned by `wait` may be read until the
// next wait.
#include "device/ptx/cp_async.cuh"

enum class RingOf { block, warp };

template <int Stages, RingOf Owner = RingOf::block> class CpAsyncPipeline {
  static_assert(Stages >= 2);

 public:
  // Returns the slot to fill, which no thread reads any more.
  __device__ u32 acquire() const { return filling_; }
  __device__ void commit() {
    cp_async::commit();
    filling_ = next(filling_);
  }
  // Returns the next slot once its bytes have arrived for every thread and no thread reads the previous one. Called by
  // the whole block or warp.
  __device__ u32 wait() {
    cp_async::wait<Stages - 2>();
    if constexpr (Owner == RingOf::block)
      __syncthreads();
    else
      __syncwarp();
    const u32 slot = reading_;
    reading_ = next(reading_);
    return slot;
  }

 private:
  __device__ static u32 next(u32 slot) { return slot + 1 == Stages ? 0 : slot + 1; }

  u32 filling_ = 0, reading_ = 0;
};

#pragma once
// The sums of a tile whose chunks of K are those of different blocks: each leaves its own in global memory, and the
// first blocks each add up a slice of all chunks, in the order of the chunks.
#include "device/ptx/named_barrier.cuh"
#include "device/reduce/slices.cuh"
#include "device/tile/four.cuh"
#include "device/tile/register_tile.cuh"

// A tile of Count chunks, whose sums are Eights times four of each of Threads threads.
template <class X, int Count, int Eights, int Threads> struct Chunks {
  Four<X>* sums;  // [chunk][Eights][thread], from this thread's on
  SliceCounters& counters;

  // Leaves this block's sums of the chunk, and returns in thread 0 which of Slices slices it adds up, of which
  // `slices` has a bit each for the others. Called by the threads together, which synchronise at named barrier 1.
  template <int Slices, class Share> __device__ TakenSlices leave(int chunk, const Share& share, u32& slices) const {
    const u32 begun = threadIdx.x == 0 ? relaxed::load(&counters.begun) : 0;
#pragma unroll
    for (int j = 0; j < Eights; ++j) sums[(chunk * Eights + j) * Threads] = four_of(&share.x[4 * j]);
    sync(1, Threads);
    TakenSlices taken;
    if (threadIdx.x == 0) {
      taken = take_slices<Count, Slices>(counters, chunk, begun);
      slices = taken.slices;
    }
    sync(1, Threads);
    return taken;
  }

  // Returns the sums of all chunks for the registers of Slice, from the first-th four on.
  template <class Slice> __device__ Slice slice(int first) const {
    constexpr int kFours = Slice::Layout::kRegisters / 4;
    Slice slice = {};
#pragma unroll(kFours <= 2 ? 8 : kFours <= 4 ? 4 : 2)
    for (int i = 0; i < Count; ++i) {
#pragma unroll
      for (int j = 0; j < kFours; ++j) add_four(&slice.x[4 * j], sums[(i * Eights + first + j) * Threads]);
    }
    return slice;
  }
};

#pragma once
// The end of a sum over blocks that leave their parts in global memory: each of the first Slices blocks adds up a slice
// of all parts. A block waits for the others only if all have begun: one that waited for a block that has no room yet
// might wait forever. Otherwise it leaves its slice to the block that finishes last.
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/relaxed.cuh"

// What the blocks of one sum count; 0 before and after a launch.
struct SliceCounters {
  u32 begun, left;  // blocks that have begun, and that no longer read `done`
  u64 done;         // below: blocks whose parts are there; bit 32 + i: block i adds up slice i
};

// What one thread of a block knows of its slices.
struct TakenSlices {
  u32 slices;         // a bit for each that the block adds up
  u32 leaves, leave;  // what it adds to `left`, and what `left` comes to
};

// Called by one thread of each block, once the kernel before has ended.
__device__ inline void begin_slices(SliceCounters& counters) {
  atomicAdd(&counters.begun, 1);
}

// Returns the slices of block `index` of Blocks once all parts are there, or none. Called by one thread of each block
// after a barrier of those that wrote the block's part, with what `begun` was before.
template <int Blocks, int Slices>
__device__ inline TakenSlices take_slices(SliceCounters& counters, int index, u32 begun) {
  static_assert(Slices <= Blocks && Blocks <= 32);
  const bool waits = begun == Blocks && index < Slices;
  const u64 own = 1 + (u64{waits} << (32 + index));
  fence::acq_rel_gpu();
  u64 done = atomicAdd(&counters.done, own) + own;
  const bool last = static_cast<u32>(done) == Blocks;
  if (!last && !waits) return {};
  while (static_cast<u32>(done) != Blocks) done = relaxed::load(&counters.done);
  fence::acq_rel_gpu();
  const u32 waiting = done >> 32, others = last ? ~waiting & (~u32{0} >> (32 - Slices)) : 0;
  return {others | u32{waits} << index, u32{waits} + last, static_cast<u32>(__popc(waiting)) + 1};
}

// Called by the same thread afterwards: the last of those that read `done` clears the counters.
__device__ inline void leave_slices(SliceCounters& counters, const TakenSlices& taken) {
  if (taken.leaves == 0 || atomicAdd(&counters.left, taken.leaves) + taken.leaves != taken.leave) return;
  fence::acq_rel_gpu();
  counters = {};
}

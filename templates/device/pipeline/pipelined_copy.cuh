#pragma once
// Copies boxes through shared memory without reading them: one thread keeps a ring of slots in flight, and each box is
// loaded into a slot and stored from it. No other thread accesses the data, so no proxy fence is needed; the barriers
// order the copies.
#include "device/pipeline/ring.cuh"
#include "device/ptx/tma.cuh"

// Copies `count` boxes. `load(i, slot, full)` announces the bytes of box i on `full` and starts loading it into a slot;
// `store(i, slot)` starts storing it. Called by one thread with newly initialised barriers. On return shared memory may
// be released; the stores' results are visible after the kernel has ended.
template <int Stages, class Load, class Store>
__device__ inline void pipelined_copy(Barrier (&full)[Stages], int count, Load load, Store store) {
  static_assert(Stages >= 2, "a slot is stored from while others are loaded");
#pragma unroll 1
  for (int i = 0; i < count && i < Stages; ++i) load(i, i, full[i]);
  Ring<Stages> ring;
#pragma unroll 1
  for (int i = 0; i < count; ++i, ring.advance()) {
    full[ring.slot].wait(ring.phase);
    store(i, ring.slot);
    tma::commit();
    // Once only the newest group still reads shared memory, the previous slot is free and its next box can be loaded.
    if (i == 0 || i - 1 + Stages >= count) continue;
    tma::wait_read<1>();
    const int freed = ring.slot == 0 ? Stages - 1 : ring.slot - 1;
    load(i - 1 + Stages, freed, full[freed]);
  }
  tma::wait_read<0>();
}

// Initialises the ring's barriers for loads that one thread announces.
template <int Stages> __device__ inline void init_pipelined_copy(Barrier (&full)[Stages]) {
#pragma unroll 1
  for (Barrier& barrier : full) barrier.init(1);
  fence_barrier_init();
}

#pragma once
// The position in a ring of slots that a producer and its consumers share.
#include "device/ptx/mbarrier.cuh"

// The position of one thread in a ring of Stages slots: the slot, and the parity of the current pass over the ring.
// Consumers wait for full[slot] with `phase`; the producer waits for empty[slot] with `phase ^ 1`, which a newly
// initialised barrier satisfies at once.
template <int Stages> struct Ring {
  u32 slot = 0, phase = 0;
  __device__ void advance() {
    if (++slot == Stages) {
      slot = 0;
      phase ^= 1;
    }
  }
  __device__ void advance(u32 slots) {
    slot += slots;
    phase ^= slot / Stages & 1;
    slot %= Stages;
  }
};

#pragma once
// A value that is the same in all lanes of a warp, of which the compiler cannot know it: it then keeps the value, and
// what follows from it, in uniform registers, where wgmma takes its descriptors from.
#include "device/types.cuh"

// Returns x of lane 0. Called by all lanes of a warp.
template <class X> __device__ inline X uniform(X x) {
  return __shfl_sync(0xffffffff, x, 0);
}

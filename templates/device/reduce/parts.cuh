#pragma once
// Combines one value of each of several blocks in the last of them to arrive, in the order of the blocks.
#include "device/reduce/block.cuh"
#include "device/reduce/grid.cuh"

// Returns true in the threads of the last of `parts` blocks to call, where x becomes the combined value; false in the
// others. Called by all Threads threads, which pass the same x. `partials` has room for `parts` values, `counter` is
// as last_arriver wants it, and `neutral` is as in block_reduce.
template <int Threads, class X, class F>
__device__ inline bool reduce_parts(X& x, X* partials, u32* counter, u32 part, u32 parts, X neutral, F f) {
  if (parts == 1) return true;
  __shared__ X warps[Threads / 32];
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partials[part] = x;
    last = last_arriver(counter, parts);
  }
  __syncthreads();
  if (!last) return false;
  x = neutral;
  for (u32 i = threadIdx.x; i < parts; i += Threads) x = f(x, partials[i]);
  x = block_reduce<Threads>(x, warps, neutral, f);
  return true;
}

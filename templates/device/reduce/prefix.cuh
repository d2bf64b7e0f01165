#pragma once
// Sums of what the threads of a block before each one have.
#include "device/reduce/warp.cuh"

template <class X> struct Prefix {
  X before, all;  // of the threads before this one, and of all
};

// Called by all Threads threads of the block. `partial`, in shared memory, may be reused after another barrier of the
// block.
template <int Threads, class X> __device__ inline Prefix<X> block_prefix(X x, X (&partial)[Threads / 32]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  X upto = x;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const X other = __shfl_up_sync(0xffffffff, upto, distance);
    if (lane >= distance) upto += other;
  }
  if (lane == 31) partial[warp] = upto;
  __syncthreads();
  const X of_warp = lane < Threads / 32 ? partial[lane] : X{};
  const auto add = [](X a, X b) { return a + b; };
  return {upto - x + warp_reduce(lane < warp ? of_warp : X{}, add), warp_reduce(of_warp, add)};
}

#pragma once
// Splits f32 operands in shared memory into terms of tf32, in place of which the units read them (tf32_terms.cuh).
#include "device/ptx/fence.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/tile/tf32_terms.cuh"

// Leaves the high terms of a tile in it and the low terms at the same places of `low`. Called by Threads threads, of
// which `thread` is the caller's index.
template <int Threads, class Tile> __device__ inline void split_tile(Tile& tile, Tile& low, int thread) {
  static_assert(sizeof(typename Tile::Element) == 4);
  uint4* const from = reinterpret_cast<uint4*>(&tile);
  uint4* const to = reinterpret_cast<uint4*>(&low);
#pragma unroll 4
  for (int i = thread; i < Tile::kBytes / 16; i += Threads) {
    const uint4 x = from[i];
    const Tf32Terms terms[4] = {tf32_terms(x.x), tf32_terms(x.y), tf32_terms(x.z), tf32_terms(x.w)};
    from[i] = {terms[0].high, terms[1].high, terms[2].high, terms[3].high};
    to[i] = {terms[0].low, terms[1].low, terms[2].low, terms[3].low};
  }
}

// Arrives at the barrier, once a warp, when the units may read what the warp has split; with Blocks 2 at that of the
// even block of a pair.
template <int Blocks = 1> __device__ inline void publish_terms(Barrier& split) {
  fence::proxy_async_shared();
  __syncwarp();
  if (threadIdx.x % 32 > 0) return;
  if constexpr (Blocks == 1)
    split.arrive();
  else
    split.arrive_release_at(0);
}

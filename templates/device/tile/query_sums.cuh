#pragma once
// The sums of the gradients of queries, in a workspace: what two consumer warpgroups make of each step of queries is
// added in any order, or for each step in the order of the tiles of keys, of which the first stores it, and rounded
// once all of a head's tiles have been added. In a fixed order each tile waits for the one before it; a step may have
// several sums, its splits, to which tiles add in turn, so that fewer wait for each other where few heads have all SMs.
// The sums of a step are as the consumers' registers have them: SHARES shares of 64 x 64. SHARES is the template's.
#include "device/ptx/red.cuh"

constexpr int kSums = 4096;  // of a share

// The workspaces. They are zero before and after a launch, but sums only where any order will do.
struct QuerySums {
  f32* sums;      // [number of the step and split][share][kSums]
  u32* counters;  // items drawn; of each head of keys the shares of tiles that have been added, and pieces rounded
  u32* ranks;     // [number of the step and split][consumer]: tiles added, where the order is fixed

  __device__ QuerySums(u8* sums, u8* counters, u8* ranks)
      : sums(reinterpret_cast<f32*>(sums)),
        counters(reinterpret_cast<u32*>(counters)),
        ranks(reinterpret_cast<u32*>(ranks)) {}

  __device__ f32* of(int number, int share) const { return sums + (s64{number} * SHARES + share) * kSums; }
  __device__ u32* rank(int number, int consumer) const { return ranks + s64{number} * 2 + consumer; }
  __device__ u32* added(int kv_head) const { return counters + 1 + 2 * s64{kv_head}; }
  __device__ u32* rounded(int kv_head) const { return counters + 2 + 2 * s64{kv_head}; }
};

// Adds a warpgroup's registers to a share of a step's sums, or stores them where they are the first; `thread` is the
// caller's index in the warpgroup.
template <class Tile>
__device__ inline void add_share(f32* share, const Tile& x, bool first, int thread = threadIdx.x % 128) {
  f32* const to = share + thread * 4;
  if (!first) {
#pragma unroll
    for (int i = 0; i < kSums / 512; ++i)
      global::add_4(to + i * 512, x.x[4 * i], x.x[4 * i + 1], x.x[4 * i + 2], x.x[4 * i + 3]);
  } else {
#pragma unroll
    for (int i = 0; i < kSums / 512; ++i)
      reinterpret_cast<float4*>(to)[i * 128] = make_float4(x.x[4 * i], x.x[4 * i + 1], x.x[4 * i + 2], x.x[4 * i + 3]);
  }
}

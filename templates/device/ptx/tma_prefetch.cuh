#pragma once
// Prefetches a box of a tensor into L2: what a load would read, without shared memory or a barrier. PTX ISA 9.0,
// "cp.async.bulk.prefetch.tensor".
#include "device/ptx/tma.cuh"

namespace tma {

template <int Rank> __device__ inline void prefetch(const CUtensorMap& map, const int (&at)[Rank]) {
  TMA_JIT_BY_RANK("cp.async.bulk.prefetch.tensor", ".L2.global.tile [%5, ", "];", "l"(&map));
}
template <int Rank> __device__ inline void prefetch(const CUtensorMap& map, const int (&at)[Rank], l2::Policy policy) {
  TMA_JIT_BY_RANK("cp.async.bulk.prefetch.tensor", ".L2.global.tile.L2::cache_hint [%5, ", "], %6;", "l"(&map),
                  "l"(policy.bits));
}

}  // namespace tma

#pragma once
// Philox4x32-10, a counter-based random generator: the same counter and key give the same four numbers everywhere.
// J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#include "device/types.cuh"

__device__ inline uint4 philox4x32(uint4 counter, u64 key) {
  u32 low = static_cast<u32>(key), high = static_cast<u32>(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 a = u64{0xd2511f53} * counter.x, b = u64{0xcd9e8d57} * counter.z;
    counter = make_uint4(static_cast<u32>(b >> 32) ^ counter.y ^ low, static_cast<u32>(b),
                         static_cast<u32>(a >> 32) ^ counter.w ^ high, static_cast<u32>(a));
    low += 0x9e3779b9, high += 0xbb67ae85;
  }
  return counter;
}

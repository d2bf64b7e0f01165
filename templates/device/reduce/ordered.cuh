#pragma once
// Numbers as unsigned integers in the same order: NaNs come last and are equal, as the two zeros are.
#include "device/types.cuh"

// Greater than 0 for every number.
__device__ inline u32 ordered(f32 x) {
  if (x != x) return 0xffffffff;
  const u32 bits = __float_as_uint(x + 0.0F);  // -0 becomes 0
  return bits & 0x80000000 ? ~bits : bits | 0x80000000;
}
// The number, not NaN, of which it is.
__device__ inline f32 number_of_ordered(u32 key) {
  return __uint_as_float(key & 0x80000000 ? key ^ 0x80000000 : ~key);
}

// Of two numbers with equal keys the one with the lower index is the greater.
__device__ inline u64 ordered_pair(f32 x, u32 index) {
  return u64{ordered(x)} << 32 | (0xffffffff - index);
}
__device__ inline u32 index_of_pair(u64 pair) {
  return 0xffffffff - static_cast<u32>(pair);
}
__device__ inline u32 number_of_pair(u64 pair) {
  return static_cast<u32>(pair >> 32);
}

#pragma once
// L2 cache policies for copies, and prefetches. PTX ISA 9.0, "createpolicy", the .L2::cache_hint operand, "prefetch".
#include "device/types.cuh"

namespace l2 {

// An opaque policy, passed as the last argument of a copy. A hint: it affects only speed.
struct Policy {
  u64 bits;
};

// The policies for a whole copy are constants: the values that createpolicy.fractional returns for the fraction 1. The
// l2_policy probe checks them.
constexpr Policy kEvictNormal = {0x16f0000000000000};
constexpr Policy kEvictFirst = {0x12f0000000000000};  // for data read or written once
constexpr Policy kEvictLast = {0x14f0000000000000};   // for data that other blocks read again

// Applies to `fraction` of the lines, above 0 and at most 1; the other lines get no priority.
__device__ inline Policy evict_first(f32 fraction) {
  Policy p;
  asm("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0, %1;" : "=l"(p.bits) : "f"(fraction));
  return p;
}
__device__ inline Policy evict_last(f32 fraction) {
  Policy p;
  asm("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, %1;" : "=l"(p.bits) : "f"(fraction));
  return p;
}
__device__ inline Policy evict_normal(f32 fraction) {
  Policy p;
  asm("createpolicy.fractional.L2::evict_normal.L2::evict_unchanged.b64 %0, %1;" : "=l"(p.bits) : "f"(fraction));
  return p;
}
// Keeps the first `primary` bytes at `from`; the rest of the `total` bytes is evicted first. At most 4 GB.
__device__ inline Policy evict_last_in(const void* from, u32 primary, u32 total) {
  Policy p;
  asm("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, [%1], %2, %3;"
      : "=l"(p.bits)
      : "l"(__cvta_generic_to_global(from)), "r"(primary), "r"(total));
  return p;
}

// Brings the line of an address to L2.
__device__ inline void prefetch(const void* at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(at)) : "memory");
}

}  // namespace l2

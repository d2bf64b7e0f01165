#pragma once
// What the L2 cache is told about a copy's lines. PTX ISA 9.0, "createpolicy" and the .L2::cache_hint operand.
#include "device/types.cuh"

namespace l2 {

// An opaque policy, passed as the last argument of a copy. A hint: nothing but speed depends on it.
struct Policy {
  u64 bits;
};

// The policies for a whole copy are constants: what createpolicy.fractional returns for the fraction 1. The l2_policy
// probe compares them.
constexpr Policy kEvictNormal = {0x16f0000000000000};
constexpr Policy kEvictFirst = {0x12f0000000000000};  // read or written once
constexpr Policy kEvictLast = {0x14f0000000000000};   // read again by other blocks

// For `fraction` of the lines, above 0 and at most 1; the others are left as they are.
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
// The first `primary` bytes at `from` are kept, the rest of the `total` bytes goes first. At most 4 GB.
__device__ inline Policy evict_last_in(const void* from, u32 primary, u32 total) {
  Policy p;
  asm("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, [%1], %2, %3;"
      : "=l"(p.bits)
      : "l"(__cvta_generic_to_global(from)), "r"(primary), "r"(total));
  return p;
}

}  // namespace l2

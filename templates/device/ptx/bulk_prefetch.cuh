#pragma once
// Bulk prefetches of contiguous bytes into L2. Addresses and sizes are multiples of 16 bytes.
// PTX ISA 9.0, "cp.async.bulk.prefetch". A kernel that has only these copies nothing through the copy engine, and is
// planned where TMA is disabled, too.
#include "device/types.cuh"

namespace bulk {

__device__ inline void prefetch(const void* from, u32 bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}

}  // namespace bulk

#pragma once
// One-dimensional bulk copies between global and shared memory: addresses and sizes are multiples of 16 bytes.
// PTX ISA 9.0, "cp.async.bulk".
#include "device/barrier.cuh"

namespace bulk {

__device__ inline void load(void* to, const void* from, u32 bytes, Barrier& full) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(smem_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(smem_address(&full)) : "memory");
}
__device__ inline void store(void* to, const void* from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :: "l"(__cvta_generic_to_global(to)), "r"(smem_address(from)), "r"(bytes) : "memory");
}

}  // namespace bulk

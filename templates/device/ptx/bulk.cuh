#pragma once
// Bulk copies of contiguous bytes. Addresses and sizes are multiples of 16 bytes.
// PTX ISA 9.0, "cp.async.bulk".
#include "device/ptx/bulk_group.cuh"
#include "device/ptx/l2.cuh"
#include "device/ptx/mbarrier.cuh"

namespace bulk {

// Copies from global memory; `full` counts the bytes.
__device__ inline void load(void* to, const void* from, u32 bytes, Barrier& full) {
  asm volatile(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(smem_address(&full))
      : "memory");
}
__device__ inline void load(void* to, const void* from, u32 bytes, Barrier& full, l2::Policy policy) {
  asm volatile(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
          smem_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(smem_address(&full)), "l"(policy.bits)
      : "memory");
}
// Copies to every block of the cluster whose bit is set in `blocks`, at the same offset; each block's own barrier
// counts the bytes.
__device__ inline void load_multicast(void* to, const void* from, u32 bytes, Barrier& full, u16 blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
      "%4;" ::"r"(smem_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(smem_address(&full)), "h"(blocks)
      : "memory");
}

// Copies to global memory, as part of the group committed next.
__device__ inline void store(void* to, const void* from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(smem_address(from)), "r"(bytes)
               : "memory");
}
__device__ inline void store(void* to, const void* from, u32 bytes, l2::Policy policy) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(smem_address(from)), "r"(bytes), "l"(policy.bits)
               : "memory");
}
// Copies only the bytes of each 16 whose bit is set in `mask`. sm_100 and newer.
__device__ inline void store_masked(void* to, const void* from, u32 bytes, u16 mask) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;" ::"l"(__cvta_generic_to_global(to)),
      "r"(smem_address(from)), "r"(bytes), "h"(mask)
      : "memory");
}

// Copies to the offset of `to` in the shared memory of another block of the cluster, with rank `rank`; its barrier at
// the offset of `full` counts the bytes.
__device__ inline void send(u32 rank, void* to, const void* from, u32 bytes, Barrier& full) {
  asm volatile(
      "{\n .reg .u32 remote, barrier;\n mapa.shared::cluster.u32 remote, %0, %4;\n"
      " mapa.shared::cluster.u32 barrier, %3, %4;\n"
      " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [remote], [%1], %2, [barrier];\n}" ::"r"(
          smem_address(to)),
      "r"(smem_address(from)), "r"(bytes), "r"(smem_address(&full)), "r"(rank)
      : "memory");
}

}  // namespace bulk

#pragma once
// Tensor Memory Accelerator: 2-D tile copies through a CUtensorMap, coordinates {column, row}.
// PTX ISA 9.0, "cp.async.bulk.tensor".
#include "device/barrier.cuh"

namespace tma {

__device__ inline void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// The destination is written .shared::cta, not .shared::cluster: for sm_120a and sm_121a ptxas 13.0 turns the cluster
// form into a system call, and then ignores setmaxnreg as well.
__device__ inline void load(void* tile, const CUtensorMap& map, Barrier& full, int column, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          smem_address(tile)),
      "l"(&map), "r"(smem_address(&full)), "r"(column), "r"(row)
      : "memory");
}
// One read, delivered at the same offset to every block of the cluster whose bit is set in `blocks`; each block's own
// barrier at the offset of `full` counts the bytes.
__device__ inline void load_multicast(void* tile, const CUtensorMap& map, Barrier& full, u16 blocks, int column,
                                      int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, "
      "%4}], [%2], %5;" ::"r"(smem_address(tile)),
      "l"(&map), "r"(smem_address(&full)), "r"(column), "r"(row), "h"(blocks)
      : "memory");
}
__device__ inline void store(const CUtensorMap& map, const void* tile, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(smem_address(tile)), "r"(column), "r"(row)
               : "memory");
}

// Bulk groups belong to the thread that commits them. `wait_read` returns when at most Pending of them still read
// shared memory; their writes may not be visible yet.
__device__ inline void commit() {
  asm volatile("cp.async.bulk.commit_group;");
}
template <int Pending> __device__ inline void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

// Orders this thread's ordinary accesses to shared memory against copies issued after the next barrier.
__device__ inline void fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace tma

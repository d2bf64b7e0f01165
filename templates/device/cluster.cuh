#pragma once
// Thread block clusters. PTX ISA 9.0, "barrier.cluster".
#include "device/types.cuh"

namespace cluster {
__device__ inline u32 rank() {
  u32 r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ inline void arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ inline void sync() {
  arrive();
  wait();
}
}  // namespace cluster

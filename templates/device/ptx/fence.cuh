#pragma once
// Fences between proxies: the paths by which ordinary instructions, the copy engine and its tensor maps access memory.
// PTX ISA 9.0, "membar, fence"; "Memory Consistency Model: Proxies".
#include "device/types.cuh"

namespace fence {

// Each orders this thread's earlier accesses, and accesses of others that it has synchronised with, against the copy
// engine's accesses for later instructions, and vice versa. Every thread that wrote executes the fence, then a barrier;
// then one thread issues the copy.
__device__ inline void proxy_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}
// For shared memory only, which is much cheaper.
__device__ inline void proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void proxy_async_shared_cluster() {
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
}
__device__ inline void proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}
// Between two virtual addresses of the same memory.
__device__ inline void proxy_alias() {
  asm volatile("fence.proxy.alias;" ::: "memory");
}
// Makes newly initialised barriers visible to the copy engine and to the cluster.
__device__ inline void mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// For a tensor map that a kernel wrote to global memory: the writer executes the release, then a barrier or a flag
// follows, then every thread that uses the map executes the acquire, each time the map has changed.
__device__ inline void proxy_tensormap_release() {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}
__device__ inline void proxy_tensormap_acquire(const CUtensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

}  // namespace fence

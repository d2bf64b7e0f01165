#pragma once
// Fences between proxies: the ways in which ordinary instructions, the copy engine and its tensor maps reach memory.
// PTX ISA 9.0, "membar, fence"; "Memory Consistency Model: Proxies".
#include "device/types.cuh"

namespace fence {

// Each orders what this thread did before it, and what others did and this thread learnt by a barrier, against what the
// copy engine does on behalf of later instructions, and the other way round. Every thread that wrote executes one, then
// a barrier, then one thread issues the copy.
__device__ inline void proxy_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}
// For shared memory alone: much the cheapest.
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
// Makes freshly initialised barriers visible to the copy engine and to the cluster.
__device__ inline void mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// A tensor map that a kernel wrote to global memory: release on the writer's side, then a barrier or a flag, then
// acquire by every thread that uses the map, each time that it changed.
__device__ inline void proxy_tensormap_release() {
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}
__device__ inline void proxy_tensormap_acquire(const CUtensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

}  // namespace fence

#pragma once
// Thread block clusters: ranks, the cluster's barrier, and the addresses of other blocks' shared memory.
// PTX ISA 9.0, "barrier.cluster" and "mapa".
#include "device/types.cuh"

namespace cluster {

__device__ inline u32 rank() {
  u32 r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
// Returns the number of blocks in the cluster.
__device__ inline u32 size() {
  u32 n;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  return n;
}

__device__ inline void arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
// Orders no memory accesses: for synchronisation alone, as before a block exits.
__device__ inline void arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ inline void wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ inline void sync() {
  arrive();
  wait();
}

// The barrier of a cluster of Blocks blocks; of the block if Blocks is 1.
template <int Blocks> __device__ inline void sync_blocks() {
  if constexpr (Blocks == 1)
    __syncthreads();
  else
    sync();
}

// Returns the address of the object at the offset of `local` in the shared memory of block `rank`, for ordinary loads,
// stores and atomics. No block may exit while another accesses its shared memory.
template <class T> __device__ inline T* map(T* local, u32 rank) {
  T* remote;
  asm("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(local), "r"(rank));
  return remote;
}
// The same as an address in the window .shared::cluster, as instructions take it.
__device__ inline u32 address(const void* local, u32 rank) {
  u32 remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(smem_address(local)), "r"(rank));
  return remote;
}

}  // namespace cluster

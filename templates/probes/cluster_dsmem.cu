//! kernel  cluster_dsmem  "D[block] = S of the next block plus its rank, through distributed shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N       = 100
//! param   CLUSTER = 4  in {2, 4, 8}
//! param   WAY     = 0  in {0, 1, 2}                "0 remote loads, 1 remote stores, 2 remote atomics"
//! tensor  S : s32[CLUSTER, N]
//! tensor  D : s32[CLUSTER, N]  out
//! cluster CLUSTER
//! launch  grid CLUSTER  block 128
//! work    flops 0  bytes 8 * CLUSTER * N
//! reference cluster_dsmem_reference  grid CLUSTER  block N
//! preset  CLUSTER = 4, WAY = 0  "cluster: loads from another block's shared memory"
//! preset  CLUSTER = 2, WAY = 1  "cluster: stores to another block's shared memory"
//! preset  CLUSTER = 8, WAY = 2  "cluster: atomics in another block's shared memory"

#include "device/ptx/cluster.cuh"

// D[b][i] = S[(b + 1) % CLUSTER][i] + (b + 1) % CLUSTER
#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void cluster_dsmem(View<const s32, 2> S, View<s32, 2> D, const Dims) {
  __shared__ s32 mine[Dims::N];
  __shared__ s32 inbox[Dims::N];
  const int i = threadIdx.x, rank = cluster::rank();
  const int next = (rank + 1) % cluster::size(), previous = (rank + cluster::size() - 1) % cluster::size();
  if (i < Dims::N) {
    mine[i] = S.data[rank * S.stride[0] + i * S.stride[1]] + rank;
    inbox[i] = 0;
  }
  cluster::sync();
  if (i < Dims::N) {
    if constexpr (WAY == 0) inbox[i] = *cluster::map(&mine[i], next);
    if constexpr (WAY == 1) *cluster::map(&inbox[i], previous) = mine[i];
    if constexpr (WAY == 2) atomicAdd(cluster::map(&inbox[i], previous), mine[i]);
  }
  cluster::sync();
  if (i < Dims::N) D.data[rank * D.stride[0] + i * D.stride[1]] = inbox[i];
}

#else

extern "C" __global__ void cluster_dsmem_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int i = threadIdx.x, next = (blockIdx.x + 1) % CLUSTER;
  D.data[blockIdx.x * D.stride[0] + i * D.stride[1]] = S.data[next * S.stride[0] + i * S.stride[1]] + next;
}

#endif

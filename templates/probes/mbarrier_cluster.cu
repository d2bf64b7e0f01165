//! kernel  mbarrier_cluster  "D[block] = what every block of the cluster wrote to this one before it arrived here"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     STEPS   = 6
//! param   CLUSTER = 4  in {2, 4, 8}
//! param   RELEASE = 1  in {0, 1}                   "1: arrivals publish ordinary stores; 0: the cluster's barrier does"
//!
//! tensor  S : s32[STEPS, CLUSTER]
//! tensor  D : s32[STEPS, CLUSTER, CLUSTER]  out
//! cluster CLUSTER
//! launch  grid CLUSTER  block 32
//! work    flops 0  bytes 4 * STEPS * CLUSTER * CLUSTER
//! reference mbarrier_cluster_reference  grid STEPS  block CLUSTER * CLUSTER
//!
//! preset  CLUSTER = 4, RELEASE = 1  "mbarrier: remote arrivals that publish"
//! preset  CLUSTER = 2, RELEASE = 0  "mbarrier: remote arrivals, relaxed"

#include "device/ptx/cluster.cuh"
#include "device/ptx/mbarrier.cuh"

// D[step][b][i] = S[step][i] + b
#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(32) void mbarrier_cluster(View<const s32, 2> S, View<s32, 3> D, const Dims) {
  __shared__ s32 inbox[2][CLUSTER];
  __shared__ Barrier barrier;
  const int t = threadIdx.x, rank = cluster::rank();
  if (t == 0) {
    barrier.init(CLUSTER);
    fence_barrier_init();
  }
  cluster::sync();
#pragma unroll 1
  for (int step = 0; step < Dims::STEPS; ++step) {
    s32(&box)[CLUSTER] = inbox[step % 2];  // the other blocks may be one step ahead
    if (t < CLUSTER) *cluster::map(&box[rank], t) = S.data[step * S.stride[0] + rank * S.stride[1]] + t;
    if constexpr (RELEASE == 1) {
      if (t < CLUSTER) barrier.arrive_release_at(t);
      barrier.wait_cluster(step % 2);
    } else {
      if (t < CLUSTER) barrier.arrive_at(t);
      barrier.wait_relaxed(step % 2);
      cluster::sync();
    }
    if (t < CLUSTER) D.data[step * D.stride[0] + rank * D.stride[1] + t * D.stride[2]] = box[t];
    __syncwarp();  // each lane arrives for another block; none may continue while others still wait for this phase
  }
}

#else

extern "C" __global__ void mbarrier_cluster_reference(View<const s32, 2> S, View<f64, 3> D, const Dims) {
  const int step = blockIdx.x, block = threadIdx.x / CLUSTER, i = threadIdx.x % CLUSTER;
  D.data[step * D.stride[0] + block * D.stride[1] + i * D.stride[2]] =
      S.data[step * S.stride[0] + i * S.stride[1]] + block;
}

#endif

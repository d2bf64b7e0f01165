//! kernel  bulk_multicast  "D[block] = S, each block of a cluster loading its share for all"
//! arch    sm_90a, sm_100a, sm_103a
//! dim     SHARE   = 1040                           "bytes"
//! param   CLUSTER = 4  in {2, 4, 8}
//! tensor  S : u8[CLUSTER, SHARE]
//! tensor  D : u8[CLUSTER, CLUSTER, SHARE]  out
//! cluster CLUSTER
//! launch  grid CLUSTER  block 32
//! work    flops 0  bytes (CLUSTER + 1) * CLUSTER * SHARE
//! reference bulk_multicast_reference  grid CLUSTER  block 256
//! preset  CLUSTER = 2  "bulk copy: multicast to 2 blocks"
//! preset  CLUSTER = 4  "bulk copy: multicast to 4 blocks"

#include "device/ptx/bulk.cuh"
#include "device/ptx/cluster.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(32) void bulk_multicast(View<const u8, 2> S, View<u8, 3> D, const Dims) {
  __shared__ alignas(16) u8 whole[CLUSTER][Dims::SHARE];
  __shared__ Barrier full;
  const int rank = cluster::rank();
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barrier_init();
    full.expect(sizeof(whole));  // the bytes of all shares: those of the other blocks arrive here too
  }
  cluster::sync();
  if (threadIdx.x == 0)
    bulk::load_multicast(whole[rank], S.data + rank * S.stride[0], Dims::SHARE, full, (1 << CLUSTER) - 1);
  full.wait(0);
  for (int i = threadIdx.x; i < CLUSTER * Dims::SHARE; i += 32)
    D.data[rank * D.stride[0] + i / Dims::SHARE * D.stride[1] + i % Dims::SHARE * D.stride[2]] = (&whole[0][0])[i];
  cluster::sync();  // no block may exit while its share may still be in transit
}

#else

extern "C" __global__ void bulk_multicast_reference(View<const u8, 2> S, View<f64, 3> D, const Dims) {
  for (int i = threadIdx.x; i < CLUSTER * Dims::SHARE; i += blockDim.x) {
    const int share = i / Dims::SHARE, byte = i % Dims::SHARE;
    D.data[blockIdx.x * D.stride[0] + share * D.stride[1] + byte * D.stride[2]] =
        S.data[share * S.stride[0] + byte * S.stride[1]];
  }
}

#endif

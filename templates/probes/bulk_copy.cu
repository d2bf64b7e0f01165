//! kernel  bulk_copy  "D = S through shared memory by bulk copies"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     ROWS  = 4
//! dim     BYTES = 4112
//! param   WAY   = 0  in {0, 1, 2, 3}  "0 load and store, 1 with L2 policies, 2 prefetch, 3 by the other block of a pair"
//!
//! tensor  S : u8[ROWS, BYTES]
//! tensor  D : u8[ROWS, BYTES]  out
//! cluster WAY == 3 ? 2 : 1
//! launch  grid ROWS  block 32
//! work    flops 0  bytes 2 * ROWS * BYTES
//! reference bulk_copy_reference  grid ROWS  block 256
//!
//! preset  WAY = 0  "bulk copy: global to shared memory and back"
//! preset  WAY = 1  "bulk copy: with L2 policies"
//! preset  WAY = 2  "bulk copy: prefetch into L2"
//! preset  WAY = 3  "bulk copy: to another block's shared memory"

#include "device/ptx/bulk.cuh"
#include "device/ptx/bulk_prefetch.cuh"
#include "device/ptx/cluster.cuh"

// If blocks send to each other, D[b] = S[b ^ 1].
#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(16) u8 loaded[Dims::BYTES];
  alignas(16) u8 received[WAY == 3 ? Dims::BYTES : 16];
  Barrier full, landed;
};

extern "C" __global__ __launch_bounds__(32) void bulk_copy(View<const u8, 2> S, View<u8, 2> D, const Dims) {
  __shared__ Smem smem;
  const u8* const from = S.data + blockIdx.x * S.stride[0];
  u8* const to = D.data + blockIdx.x * D.stride[0];
  if (threadIdx.x == 0) {
    smem.full.init(1);
    if constexpr (WAY == 3) smem.landed.init(1);
    fence_barrier_init();
    if constexpr (WAY == 3) smem.landed.expect(sizeof(smem.received));
    smem.full.expect(sizeof(smem.loaded));
  }
  if constexpr (WAY == 3) cluster::sync();
  if (threadIdx.x == 0) {
    if constexpr (WAY == 2) bulk::prefetch(from, Dims::BYTES);
    if constexpr (WAY == 1)
      bulk::load(smem.loaded, from, Dims::BYTES, smem.full, l2::kEvictFirst);
    else
      bulk::load(smem.loaded, from, Dims::BYTES, smem.full);
    smem.full.wait(0);
    if constexpr (WAY == 3) {
      bulk::send(cluster::rank() ^ 1, smem.received, smem.loaded, Dims::BYTES, smem.landed);
      smem.landed.wait(0);
      bulk::store(to, smem.received, Dims::BYTES);
    } else if constexpr (WAY == 1) {
      bulk::store(to, smem.loaded, Dims::BYTES, l2::evict_last(0.5F));
    } else {
      bulk::store(to, smem.loaded, Dims::BYTES);
    }
    bulk::commit();
    bulk::wait_read<0>();
  }
  __syncwarp();
  if constexpr (WAY == 3) cluster::sync();
}

#else

extern "C" __global__ void bulk_copy_reference(View<const u8, 2> S, View<f64, 2> D, const Dims) {
  const int row = blockIdx.x, from = WAY == 3 ? row ^ 1 : row;
  for (int i = threadIdx.x; i < Dims::BYTES; i += blockDim.x)
    D.data[row * D.stride[0] + i * D.stride[1]] = S.data[from * S.stride[0] + i * S.stride[1]];
}

#endif

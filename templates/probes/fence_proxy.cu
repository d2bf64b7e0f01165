//! kernel  fence_proxy  "D = S, handed between ordinary instructions and bulk copies with a fence at each change"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N   = 512
//! param   WAY = 0  in 0..4                         "which fence"
//! tensor  S : s32[N]
//! tensor  D : s32[N]  out
//! workspace forwarded 4 * N
//! launch  grid 1  block 128
//! work    flops 0  bytes 8 * N
//! reference fence_proxy_reference  grid 1  block 256
//! preset  WAY = 0  "fence.proxy.async.shared::cta: stores, then a bulk store"
//! preset  WAY = 1  "fence.proxy.async.global: stores, then a bulk load"
//! preset  WAY = 2  "fence.proxy.async: stores, then bulk copies"
//! preset  WAY = 3  "fence.proxy.async.global: a bulk store, then loads"
//! preset  WAY = 4  "fence.proxy.alias, fence.proxy.async.shared::cluster"

#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"

#ifndef TMA_JIT_REFERENCE

struct Smem {
  alignas(16) s32 words[Dims::N];
  Barrier full;
};

__device__ inline void store_to(void* to, const void* from) {
  bulk::store(to, from, Dims::N * 4);
  bulk::commit();
  bulk::wait<0>();
}
__device__ inline void load_from(Smem& smem, const void* from) {
  smem.full.expect(sizeof(smem.words));
  bulk::load(smem.words, from, sizeof(smem.words), smem.full);
}

extern "C" __global__ __launch_bounds__(128) void fence_proxy(View<const s32, 1> S, View<s32, 1> D, u8* forwarded,
                                                              const Dims) {
  __shared__ Smem smem;
  s32* const far = reinterpret_cast<s32*>(forwarded);
  const int t = threadIdx.x;
  if ((WAY == 1 || WAY == 2) && t == 0) smem.full.init(1);
  if (WAY == 1 && t == 0) fence_barrier_init();  // the fence of the second way also covers the barrier
  for (int i = t; i < Dims::N; i += 128) (WAY == 1 || WAY == 2 ? far : smem.words)[i] = S.data[i * S.stride[0]];
  if constexpr (WAY == 0 || WAY == 3) fence::proxy_async_shared();
  if constexpr (WAY == 1) fence::proxy_async_global();
  if constexpr (WAY == 2) fence::proxy_async();
  if constexpr (WAY == 4) {
    fence::proxy_alias();
    fence::proxy_async_shared_cluster();
  }
  __syncthreads();
  if constexpr (WAY == 0 || WAY == 4) {
    if (t == 0) store_to(D.data, smem.words);
    return;
  }
  if constexpr (WAY == 1 || WAY == 2) {
    if (t == 0) load_from(smem, far);
    smem.full.wait(0);
    if (WAY == 2 && t == 0) store_to(D.data, smem.words);
  }
  if constexpr (WAY == 3) {
    if (t == 0) {
      store_to(far, smem.words);
      fence::proxy_async_global();
    }
    __syncthreads();
  }
  if constexpr (WAY == 1 || WAY == 3)
    for (int i = t; i < Dims::N; i += 128) D.data[i * D.stride[0]] = (WAY == 3 ? far : smem.words)[i];
}

#else

extern "C" __global__ void fence_proxy_reference(View<const s32, 1> S, View<f64, 1> D, const Dims) {
  for (int i = threadIdx.x; i < Dims::N; i += blockDim.x) D.data[i * D.stride[0]] = S.data[i * S.stride[0]];
}

#endif

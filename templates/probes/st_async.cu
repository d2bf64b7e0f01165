//! kernel  st_async  "D[block] = S of the other block of a pair, stored asynchronously into this one's shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N     = 512
//! param   BYTES = 4  in {4, 8, 16}                 "a store"
//! param   WIDE  = 0  in {0, 1}                     "1: vectors of 64-bit elements, or one of them"
//! require BYTES >= 8 || WIDE == 0                  "a 64-bit element has 8 bytes"
//! tensor  S : s32[2, N]
//! tensor  D : s32[2, N]  out
//! cluster 2
//! launch  grid 2  block 128
//! work    flops 0  bytes 16 * N
//! reference st_async_reference  grid 2  block 256
//! preset  BYTES = 4             "st.async: 4 bytes"
//! preset  BYTES = 8             "st.async: 8 bytes"
//! preset  BYTES = 16            "st.async: 16 bytes"
//! preset  BYTES = 16, WIDE = 1  "st.async: 16 bytes as two"

#include "device/ptx/st_async.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr int kWords = BYTES / 4;

template <bool Wide, int Words>
__device__ inline void send(u32 rank, u32* to, const u32 (&words)[Words], Barrier& landed) {
  if constexpr (Wide) {
    u64 pairs[Words / 2];
#pragma unroll
    for (int p = 0; p < Words / 2; ++p) pairs[p] = u64{words[2 * p + 1]} << 32 | words[2 * p];
    u64* const wide = reinterpret_cast<u64*>(to);
    if constexpr (Words == 2)
      remote::store(rank, wide, pairs[0], landed);
    else
      remote::store(rank, wide, pairs, landed);
  } else if constexpr (Words == 1) {
    remote::store(rank, to, words[0], landed);
  } else {
    remote::store(rank, to, words, landed);
  }
}

extern "C" __global__ __launch_bounds__(128) void st_async(View<const s32, 2> S, View<s32, 2> D, const Dims) {
  __shared__ alignas(16) u32 inbox[Dims::N];
  __shared__ Barrier landed;
  const int block = blockIdx.x, other = cluster::rank() ^ 1;
  if (threadIdx.x == 0) {
    landed.init(1);
    fence_barrier_init();
    landed.expect(sizeof(inbox));
  }
  cluster::sync();
  for (int i = threadIdx.x * kWords; i < Dims::N; i += 128 * kWords) {
    u32 words[kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w) words[w] = S.data[block * S.stride[0] + (i + w) * S.stride[1]];
    send<WIDE == 1>(other, inbox + i, words, landed);
  }
  landed.wait_cluster(0);
  for (int i = threadIdx.x; i < Dims::N; i += 128) D.data[block * D.stride[0] + i * D.stride[1]] = inbox[i];
  // All data for this block has arrived, so that it may exit.
}

#else

extern "C" __global__ void st_async_reference(View<const s32, 2> S, View<f64, 2> D, const Dims) {
  const int block = blockIdx.x;
  for (int i = threadIdx.x; i < Dims::N; i += blockDim.x)
    D.data[block * D.stride[0] + i * D.stride[1]] = S.data[(block ^ 1) * S.stride[0] + i * S.stride[1]];
}

#endif

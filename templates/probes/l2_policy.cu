//! kernel  l2_policy  "D[i] = 1 where a policy is what the hardware makes of it; D[i + 8] = S[i] read with each"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     FIELDS = 16
//! tensor  S : s32[8, 4]
//! tensor  D : s32[FIELDS]  out
//! launch  grid 1  block 32
//! work    flops 0  bytes 4 * FIELDS
//! reference l2_policy_reference  grid 1  block 8

#include "device/ptx/bulk.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ void l2_policy(View<const s32, 2> S, View<s32, 1> D, const Dims) {
  __shared__ alignas(16) s32 rows[8][4];
  __shared__ Barrier full;
  if (threadIdx.x != 0) return;
  const l2::Policy policies[8] = {
      l2::kEvictNormal,   l2::kEvictFirst,   l2::kEvictLast,        l2::evict_normal(1),
      l2::evict_first(1), l2::evict_last(1), l2::evict_first(0.5F), l2::evict_last_in(S.data, 64, 128)};
  full.init(1);
  fence_barrier_init();
  full.expect(sizeof(rows));
#pragma unroll
  for (int i = 0; i < 8; ++i) bulk::load(rows[i], S.data + i * S.stride[0], 16, full, policies[i]);
  full.wait(0);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    // The constants equal the policies made for a whole copy; those for a part, and for a range, differ from them.
    const bool right = i < 6 ? policies[i].bits == policies[(i + 3) % 6].bits
                             : policies[i].bits != l2::kEvictFirst.bits && policies[i].bits != l2::kEvictLast.bits;
    D.data[i * D.stride[0]] = right;
    D.data[(i + 8) * D.stride[0]] = rows[i][i % 4];
  }
}

#else

extern "C" __global__ void l2_policy_reference(View<const s32, 2> S, View<f64, 1> D, const Dims) {
  const int i = threadIdx.x;
  D.data[i * D.stride[0]] = 1;
  D.data[(i + 8) * D.stride[0]] = S.data[i * S.stride[0] + i % 4 * S.stride[1]];
}

#endif

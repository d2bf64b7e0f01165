//! kernel  red_async  "D[block] = OP(C[block], S of the other block of a pair), reduced in shared memory"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     N    = 256
//! param   OP   = 0  in 0..7                        "add min max inc dec and or xor"
//! param   TYPE = 0  in {0, 1, 2}                   "u32 s32 u64"
//! let     TYPES = OP == 0 ? 0b111 : OP <= 2 ? 0b11 : 0b1
//! require (TYPES >> TYPE & 1) == 1                 "the hardware has this reduction"
//! tensor  S : s32[2, N]
//! tensor  C : s32[2, N]
//! tensor  D : s32[2, N]  out
//! cluster 2
//! launch  grid 2  block 128
//! work    flops 0  bytes 24 * N
//! reference red_async_reference  grid 2  block 256
//! preset  OP = 0, TYPE = 0  "red.async: add u32"
//! preset  OP = 0, TYPE = 2  "red.async: add u64"
//! preset  OP = 1, TYPE = 1  "red.async: min s32"
//! preset  OP = 3, TYPE = 0  "red.async: inc u32"
//! preset  OP = 7, TYPE = 0  "red.async: xor"

#include "device/probe/reduction.cuh"
#include "device/ptx/st_async.cuh"

using E = probe::Element<TYPE>::Type;
constexpr Reduction kOp = static_cast<Reduction>(OP);

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void red_async(View<const s32, 2> S, View<const s32, 2> C, View<s32, 2> D,
                                                            const Dims) {
  __shared__ E values[Dims::N];
  __shared__ Barrier landed;
  const int block = blockIdx.x, other = cluster::rank() ^ 1;
#pragma unroll 1
  for (int i = threadIdx.x; i < Dims::N; i += 128)
    values[i] = probe::from_s32<E>(C.data[block * C.stride[0] + i * C.stride[1]]);
  if (threadIdx.x == 0) {
    landed.init(1);
    fence_barrier_init();
    landed.expect(sizeof(values));
  }
  cluster::sync();
#pragma unroll 1
  for (int i = threadIdx.x; i < Dims::N; i += 128) {
    const E s = probe::from_s32<E>(S.data[block * S.stride[0] + i * S.stride[1]]);
    remote::reduce<kOp>(other, values + i, s, landed);
  }
  landed.wait_cluster(0);
  for (int i = threadIdx.x; i < Dims::N; i += 128)
    D.data[block * D.stride[0] + i * D.stride[1]] = probe::to_s32(values[i]);
  // All data for this block has arrived, so that it may exit.
}

#else

extern "C" __global__ void red_async_reference(View<const s32, 2> S, View<const s32, 2> C, View<f64, 2> D, const Dims) {
  const int block = blockIdx.x;
  for (int i = threadIdx.x; i < Dims::N; i += blockDim.x) {
    const E x = probe::from_s32<E>(C.data[block * C.stride[0] + i * C.stride[1]]);
    const E s = probe::from_s32<E>(S.data[(block ^ 1) * S.stride[0] + i * S.stride[1]]);
    D.data[block * D.stride[0] + i * D.stride[1]] = probe::to_s32(probe::applied<kOp>(x, s));
  }
}

#endif

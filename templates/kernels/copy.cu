//! kernel  copy     "D[i] = S[i], bit for bit"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = u8    in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     N : s64        in 0..576460752303423488
//!
//! param   VEC     = 16   in {16, 8, 4, 2, 1}       "bytes a thread moves at once: both addresses are a multiple"
//! param   UNROLL  = 1    in {1, 2, 4, 8}           "moves in flight in a thread"
//! param   THREADS = 512  in {128, 256, 512}
//!
//! let     TILE    = VEC * UNROLL * THREADS         "bytes of a block"
//! let     BYTES   = N * sizeof(T)
//!
//! require alignment(S) >= VEC && alignment(D) >= VEC  "both addresses must be multiples of the access"
//! require stride(S, 0) == 1 && stride(D, 0) == 1      "the elements must be neighbours"
//!
//! tensor  S : T[N]
//! tensor  D : T[N]  out
//!
//! launch  grid ceil_div(BYTES, TILE)  block THREADS
//! work    flops 0  bytes 2 * BYTES
//! reference copy_reference  grid min(ceil_div(N, 256), 65536)  block 256
//!
//! preset  VEC = 16, UNROLL = 1
//! preset  VEC = 8,  UNROLL = 4
//! preset  VEC = 4,  UNROLL = 8
//! preset  VEC = 2,  UNROLL = 8
//! preset  VEC = 1,  UNROLL = 8

#include "device/ptx/cvt.cuh"
#include "device/tile/pack.cuh"

#ifndef TMA_JIT_REFERENCE

// Copies contiguous bytes in short blocks: the hardware's order of blocks then keeps the memory accesses dense. On an
// H100 this reached 1.00 of the bandwidth of cuMemcpyDtoD, bulk copies through shared memory 0.97 to 0.99.
__device__ inline void copy_tile(u8* to, const u8* from) {
  using Access = Pack<u8, VEC>;
  Access x[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) x[u] = reinterpret_cast<const Access*>(from)[u * THREADS + threadIdx.x];
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) reinterpret_cast<Access*>(to)[u * THREADS + threadIdx.x] = x[u];
}

extern "C" __global__ __launch_bounds__(THREADS) void copy(View<const T, 1> S, View<T, 1> D, const Dims dims) {
  const s64 first = s64{blockIdx.x} * TILE, rest = dims.N * s64{sizeof(T)} - first;
  const u8* from = reinterpret_cast<const u8*>(S.data) + first;
  u8* to = reinterpret_cast<u8*>(D.data) + first;
  if (rest >= TILE) {
    copy_tile(to, from);
  } else {
    for (int i = threadIdx.x; i < rest; i += THREADS) to[i] = from[i];
  }
}

#else

extern "C" __global__ void copy_reference(View<const T, 1> S, View<f64, 1> D, const Dims dims) {
  for (s64 i = s64{blockIdx.x} * blockDim.x + threadIdx.x; i < dims.N; i += s64{gridDim.x} * blockDim.x)
    D.data[i * D.stride[0]] = to_f64(S.data[i * S.stride[0]]);
}

#endif

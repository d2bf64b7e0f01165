//! kernel  scatter_add "D[r,n] += sum of input(S[i,n]) over the i with I[i] = r, in any order: by atomic additions, of which f32 ones may differ in their last bits from launch to launch"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/scatter_add.cuh"
//!
//! type    O       = f32                            "elements of D"
//!
//! param   ATOMIC  = 0     in {0, 1} asked          "1: by atomic additions; without, scatter_add.cu sums in a fixed order"
//! param   INTO    = 1     in {1} asked             "1: the sums are added to what D holds"
//! param   PACKS   = 2     in {1, 2, 4}             "packs of a row that a thread has in flight"
//!
//! let     EACH    = 16 / sizeof(T)                 "elements of a pack"
//! let     ACROSS  = ceil_div(N, 32 * EACH * PACKS) "parts of a row, of each of which a warp has one"
//!
//! require ATOMIC == 1                              "sums in a fixed order are those of scatter_add.cu"
//! require ceil_div(COUNT, 8) * ACROSS <= 2147483647 "blocks are counted in 31 bits"
//!
//! launch  grid ceil_div(COUNT, 8) * ACROSS  block 256
//! work    flops COUNT * N  bytes COUNT * (N * sizeof(T) + sizeof(J)) + min(R, COUNT) * 2 * N * 4
//!
//! preset  ATOMIC = 1, PACKS = 1  when N <= 512 / sizeof(T)
//! preset  ATOMIC = 1, PACKS = 2

#include "device/ptx/cvt.cuh"
#include "device/reference/scatter_add.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/tile/pack.cuh"

// Adds `x`, of which `left` elements are in the row, to what begins at `to`.
__device__ inline void add(f32* to, const f32 (&x)[EACH], int left) {
#pragma unroll
  for (int i = 0; i < EACH; i += 4) {
#if __CUDA_ARCH__ >= 900
    if (i + 4 <= left && reinterpret_cast<u64>(to) % 16 == 0) {
      atomicAdd(reinterpret_cast<float4*>(to + i), make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]));
      continue;
    }
#endif
#pragma unroll
    for (int k = i; k < i + 4; ++k)
      if (k < left) atomicAdd(to + k, x[k]);
  }
}

// A warp adds a part of a row of S to the row of D whose number stands beside it.
extern "C" __global__ __launch_bounds__(256) void scatter_add(View<const T, 2> S, View<const J, 1> I, View<O, 2> D,
                                                              const Dims dims, const __grid_constant__ Hooks hooks) {
  const u32 across = ceil_div<u32>(dims.N, 32 * EACH * PACKS), lane = threadIdx.x % 32;
  const s64 i = s64{blockIdx.x / across} * 8 + threadIdx.x / 32;
  const s64 row = i < dims.COUNT ? I.data[i * I.stride[0]] : -1;
  if (row < 0 || row >= dims.R) return;
  const int first = (blockIdx.x % across * PACKS * 32 + lane) * EACH;
  Pack<T, EACH> in[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int column = first + p * 32 * EACH;
    in[p] = load_pack_anywhere<EACH>(S.data + i * S.stride[0] + column, dims.N - column);
  }
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    const int column = first + p * 32 * EACH;
    f32 x[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) x[k] = hooks.input(to_f32(in[p].x[k]), static_cast<int>(i), column + k);
    add(D.data + row * D.stride[0] + column, x, dims.N - column);
  }
}

#endif

//! kernel  tcgen05_ld_st "D = S through tensor memory: stored in one shape, fetched in the same, every shape and count"
//! arch    sm_100a, sm_103a
//! param   SHAPE = 0   in 0..4                      "32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2"
//! param   COUNT = 32  in {1, 2, 4, 8, 16, 32, 64, 128} "registers of a thread"
//! param   PACKED = 0  in {0, 1}                    "1: 16 bits a column outside, 32 bits a register inside"
//! require SHAPE < 2 || SHAPE == 4 || COUNT >= (SHAPE == 2 ? 2 : 4)  "one repetition takes 2 or 4 registers"
//! require PACKED == 0 || COUNT <= 64               "unpacked, the registers take twice the columns"
//! tensor  S : u32[COUNT, 128]
//! tensor  D : u32[COUNT, 128]  out
//! launch  grid 1  block 128
//! work    flops 0  bytes 1024 * COUNT
//! preset  SHAPE = 0, COUNT = 32    "tcgen05.ld and st: 32x32b"
//! preset  SHAPE = 1, COUNT = 16    "tcgen05.ld and st: 16x64b"
//! preset  SHAPE = 2, COUNT = 16    "tcgen05.ld and st: 16x128b"
//! preset  SHAPE = 3, COUNT = 16    "tcgen05.ld and st: 16x256b"
//! preset  SHAPE = 4, COUNT = 16    "tcgen05.ld and st: 16x32bx2"
//! preset  SHAPE = 0, COUNT = 16, PACKED = 1  "tcgen05.ld and st: two columns of 16 bits a register"
//! reference tcgen05_ld_st_reference  grid COUNT  block 128

#include "device/probe/operands.cuh"
#include "device/ptx/tcgen05.cuh"
#include "device/ptx/tensor_memory.cuh"

#ifndef TMA_JIT_REFERENCE

using Shape = probe::If<
    SHAPE == 1, tensor_memory::Shape16x64b,
    probe::If<SHAPE == 2, tensor_memory::Shape16x128b,
              probe::If<SHAPE == 3, tensor_memory::Shape16x256b, tensor_memory::Shape32x32b>::type>::type>::type;
using Pack = probe::If<PACKED == 1, tensor_memory::Pack, tensor_memory::Whole>::type;
using Unpack = probe::If<PACKED == 1, tensor_memory::Unpack, tensor_memory::Whole>::type;

template <int Shape_> __device__ inline void st(u32 address, const u32 (&x)[COUNT]) {
  if constexpr (Shape_ == 4)
    tensor_memory::st_halves<256, Unpack>(address, x);
  else
    tensor_memory::st<Shape, Unpack>(address, x);
}
template <int Shape_> __device__ inline void ld(u32 (&x)[COUNT], u32 address) {
  if constexpr (Shape_ == 4)
    tensor_memory::ld_halves<256, Pack>(x, address);
  else
    tensor_memory::ld<Shape, Pack>(x, address);
}

// Each warp uses its own 32 lanes. What it stored is not kept in registers when it loads.
extern "C" __global__ __launch_bounds__(128) void tcgen05_ld_st(View<const u32, 2> S, View<u32, 2> D) {
  __shared__ u32 allocated;
  if (threadIdx.x < 32) tensor_memory::alloc<512>(&allocated);
  __syncthreads();
  const u32 mine = tensor_memory::at(allocated, threadIdx.x / 32 * 32, 0);
  u32 x[COUNT];
#pragma unroll
  for (int i = 0; i < COUNT; ++i) x[i] = S.data[i * S.stride[0] + threadIdx.x * S.stride[1]];
  st<SHAPE>(mine, x);
  tensor_memory::wait_st();
  ld<SHAPE>(x, mine);
  tensor_memory::wait_ld();
#pragma unroll
  for (int i = 0; i < COUNT; ++i) D.data[i * D.stride[0] + threadIdx.x * D.stride[1]] = x[i];
  tcgen05::fence_before();
  __syncthreads();
  if (threadIdx.x < 32) tensor_memory::dealloc<512>(allocated);
}

#else

extern "C" __global__ void tcgen05_ld_st_reference(View<const u32, 2> S, View<f64, 2> D) {
  D.data[blockIdx.x * D.stride[0] + threadIdx.x * D.stride[1]] =
      S.data[blockIdx.x * S.stride[0] + threadIdx.x * S.stride[1]];
}

#endif

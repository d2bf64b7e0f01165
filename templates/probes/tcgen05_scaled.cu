//! kernel  tcgen05_scaled "D = A * B^T by block-scaled tcgen05.mma: each row's elements of K share factors, kept in tensor memory"
//! arch    sm_100a, sm_103a
//! param   KIND    = 0    in 0..3                  "0 mxf8f6f4 of e4m3, 1 mxf4, 2 mxf4nvf4 of blocks of 16, 3 of 32"
//! param   COLUMNS = 64   in {16, 64, 128}         "N of the instruction"
//! let     K       = KIND == 0 ? 128 : 256         "128 bytes"
//! let     BLOCK   = KIND == 2 ? 16 : 32           "elements that share a factor"
//! tensor  A : s8[128, K]
//! tensor  B : s8[COLUMNS, K]
//! tensor  D : f32[128, COLUMNS]  out
//! launch  grid 1  block 128  smem (128 + 128) * 128 + 8 * 512 + 1024
//! work    flops 2 * 128 * COLUMNS * K  bytes 4 * 128 * COLUMNS
//! preset  KIND = 0  "tcgen05.mma: mxf8f6f4"
//! preset  KIND = 1  "tcgen05.mma: mxf4"
//! preset  KIND = 2  "tcgen05.mma: mxf4nvf4, blocks of 16"
//! preset  KIND = 3  "tcgen05.mma: mxf4nvf4, blocks of 32"
//! reference tcgen05_scaled_reference  grid 128  block COLUMNS

#include "device/probe/operands.cuh"
#include "device/ptx/tcgen05.cuh"
#include "device/ptx/tensor_memory.cuh"

// The factor of block `block` of row `row` is 2 to this power; A and B have different powers.
__device__ inline int power(int row, int block, bool b) {
  return (row + 3 * block + b) % 3;
}

#ifndef TMA_JIT_REFERENCE

using Kind =
    probe::If<KIND == 0, tcgen05::Mxf8f6f4,
              probe::If<KIND == 1, tcgen05::Mxf4,
                        probe::If<KIND == 2, tcgen05::Mxf4nvf4Block16, tcgen05::Mxf4nvf4Block32>::type>::type>::type;
constexpr int kStep = K / 4, kFactors = kStep / BLOCK;  // elements and factors of one instruction

struct Smem {
  alignas(1024) u8 a[128 * 128];
  alignas(1024) u8 b[128 * 128];
  alignas(128) u8 factors[2][4][512];  // for A and B, for each instruction
};

// Returns -4 to 3 as e2m1.
__device__ inline u32 e2m1(int x) {
  const u32 magnitudes = 0x65420;  // codes of 0, 1, 2, 3 and 4, four bits each
  return (x < 0 ? 8 : 0) | (magnitudes >> 4 * (x < 0 ? -x : x) & 0xF);
}

// Rows of 128 bytes with the 128-byte swizzle; two e2m1 per byte.
__device__ inline void fill(u8* tile, int rows, const View<const s8, 2>& drawn) {
  if constexpr (KIND == 0) {
    probe::fill<e4m3>(tile, {128, false}, rows, drawn);
  } else {
    for (int i = threadIdx.x; i < rows * 128; i += 128) {
      const s8* two = drawn.data + i / 128 * drawn.stride[0] + i % 128 * 2;
      tile[probe::place<1>({128, false}, rows, i / 128, i % 128)] =
          static_cast<u8>(e2m1(probe::value<s8>(two[0])) | e2m1(probe::value<s8>(two[1])) << 4);
    }
  }
}

// The factors of instruction `step` in the layout of tcgen05.cp 32x128b: 16 bytes for each of 32 lanes, of which bytes
// 4i to 4i + 3 are the factors of row lane + 32i, in ascending blocks of K.
__device__ inline void fill_factors(u8 (&image)[512], int step, bool b) {
  for (int i = threadIdx.x; i < 512; i += 128) {
    const int row = i / 16 + i / 4 % 4 * 32, block = step * kFactors + i % 4;
    const int exponent = i % 4 < kFactors ? power(row, block, b) : 0;
    image[i] = static_cast<u8>(KIND == 2 ? (exponent + 7) << 3 : exponent + 127);  // ue4m3, or ue8m0
  }
}

__device__ inline u64 descriptor(const u8* tile, int step) {
  return tcgen05::descriptor<128>(smem_address(tile) + step * 32, 16, 1024);
}

// Called by one thread. Copies the factors to tensor memory in the order in which the products use them.
__device__ inline void multiply(Smem& smem, u32 d, Barrier& done) {
  const u32 types = KIND == 0 ? 0 : 1, factors = d + 256;
  for (int step = 0; step < 4; ++step)
    for (int operand = 0; operand < 2; ++operand)
      tensor_memory::cp<tensor_memory::Cp32x128b>(
          factors + step * 8 + operand * 4, tcgen05::descriptor<0>(smem_address(smem.factors[operand][step]), 0, 128));
  const tcgen05::Instruction what = tcgen05::Instruction(128, COLUMNS, types, types).scales(KIND != 2, 0, 0);
  for (int step = 0; step < 4; ++step)
    tcgen05::mma_scaled<Kind>(d, descriptor(smem.a, step), descriptor(smem.b, step), what, factors + step * 8,
                              factors + step * 8 + 4, step > 0);
  tcgen05::commit(done);
}

extern "C" __global__ __launch_bounds__(128) void tcgen05_scaled(View<const s8, 2> A, View<const s8, 2> B,
                                                                 View<f32, 2> D) {
  extern __shared__ __align__(1024) u8 raw[];
  __shared__ Barrier done;
  __shared__ u32 allocated;
  Smem& smem = *reinterpret_cast<Smem*>(raw + (1024 - smem_address(raw) % 1024) % 1024);
  if (threadIdx.x == 0) done.init(1);
  if (threadIdx.x < 32) tensor_memory::alloc<512>(&allocated);
  fill(smem.a, 128, A);
  fill(smem.b, COLUMNS, B);
  for (int step = 0; step < 4; ++step) {
    fill_factors(smem.factors[0][step], step, false);
    fill_factors(smem.factors[1][step], step, true);
  }
  probe::publish();
  if (threadIdx.x == 0) multiply(smem, allocated, done);
  done.wait(0);
  tcgen05::fence_after();
#pragma unroll 1
  for (int column = 0; column < COLUMNS; column += 8) {
    u32 x[8];
    tensor_memory::ld<tensor_memory::Shape32x32b>(x, tensor_memory::at(allocated, threadIdx.x / 32 * 32, column));
    tensor_memory::wait_ld();
    for (int i = 0; i < 8; ++i) D.data[threadIdx.x * D.stride[0] + column + i] = __uint_as_float(x[i]);
  }
  tcgen05::fence_before();
  __syncthreads();
  if (threadIdx.x < 32) tensor_memory::dealloc<512>(allocated);
}

#else

extern "C" __global__ void tcgen05_scaled_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = blockIdx.x, column = threadIdx.x;
  f64 sum = 0;
  for (int k = 0; k < K; ++k) {
    const int factor = 1 << (power(row, k / BLOCK, false) + power(column, k / BLOCK, true));
    sum += factor * probe::value<s8>(A.data[row * A.stride[0] + k * A.stride[1]]) *
           probe::value<s8>(B.data[column * B.stride[0] + k * B.stride[1]]);
  }
  D.data[row * D.stride[0] + column * D.stride[1]] = sum;
}

#endif

//! kernel  mma_fp8 "D = A * B^T by one mma.sync of 8-bit floats"
//! arch    sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! param   FORM    = 4    in 4..11    "second bit: A is e5m2, first: B is; 8 to 11 with f16 sums"
//! param   BYTES   = 32   in {16, 32}              "bytes of K"
//! let     DEPTH   = BYTES
//! tensor  A : s8[16, DEPTH]
//! tensor  B : s8[8, DEPTH]
//! tensor  D : f32[16, 8]  out
//! launch  grid 1  block 32
//! work    flops 2 * 16 * 8 * DEPTH  bytes 4 * 16 * 8
//! preset  FORM = 4, BYTES = 32             "mma.sync: e4m3"
//! preset  FORM = 7, BYTES = 16             "mma.sync: e5m2"
//! preset  FORM = 9, BYTES = 32             "mma.sync: e4m3 * e5m2, f16 accumulators"
//! reference mma_fp8_reference  grid 1  block 16 * 8

#include "device/mma.cuh"
#include "device/probe_operands.cuh"

using Types = probe::Types<FORM>;

#ifndef TMA_JIT_REFERENCE

using Mma = mma::Mma<16, 8, DEPTH, Types::A, Types::B, Types::D>;

// 32 bits of row `row` from byte `byte` of K.
template <class T> __device__ inline u32 word(const View<const s8, 2>& from, int row, int byte) {
  u32 bits = 0;
  for (int i = 0; i < 4; ++i)
    bits |= probe::encoded<T>(probe::value<T>(from.data[row * from.stride[0] + (byte + i) * from.stride[1]])) << i * 8;
  return bits;
}

extern "C" __global__ void mma_fp8(View<const s8, 2> A, View<const s8, 2> B, View<f32, 2> D) {
  const int g = threadIdx.x / 4, q = threadIdx.x % 4;
  u32 a[Mma::a_registers], b[Mma::b_registers];
  for (int i = 0; i < Mma::a_registers; ++i) a[i] = word<Types::A>(A, g + i % 2 * 8, i / 2 * 16 + q * 4);
  for (int i = 0; i < Mma::b_registers; ++i) b[i] = word<Types::B>(B, g, i * 16 + q * 4);
  Mma::Accumulator d[Mma::d_registers] = {};
  Mma::multiply(d, a, b);
  for (int i = 0; i < 4; ++i)
    D.data[(g + i / 2 * 8) * D.stride[0] + q * 2 + i % 2] = probe::accumulator<Types::D>(d, i);
}

#else

extern "C" __global__ void mma_fp8_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  s32 sum = 0;
  for (int k = 0; k < DEPTH; ++k)
    sum += probe::value<Types::A>(A.data[row * A.stride[0] + k * A.stride[1]]) *
           probe::value<Types::B>(B.data[column * B.stride[0] + k * B.stride[1]]);
  D.data[row * D.stride[0] + column * D.stride[1]] = sum;
}

#endif

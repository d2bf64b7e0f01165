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

#include "device/probe/fragments.cuh"

using Types = probe::Types<FORM>;

#ifndef TMA_JIT_REFERENCE

using Mma = mma::Mma<16, 8, DEPTH, Types::A, Types::B, Types::D>;

extern "C" __global__ void mma_fp8(View<const s8, 2> A, View<const s8, 2> B, View<f32, 2> D) {
  u32 a[Mma::a_registers], b[Mma::b_registers];
  probe::fragment_a<Types::A, 8, 0>(a, A);
  probe::fragment_b<Types::B, 8, 0>(b, B);
  Mma::Accumulator d[Mma::d_registers] = {};
  Mma::multiply(d, a, b);
  probe::store_accumulators<Types::D, 16>(D, d);
}

#else

extern "C" __global__ void mma_fp8_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  D.data[row * D.stride[0] + column * D.stride[1]] = probe::dot<Types::A, Types::B>(A, B, row, column, DEPTH);
}

#endif

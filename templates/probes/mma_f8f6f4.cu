//! kernel  mma_f8f6f4 "D = A * B^T by one mma.sync of kind f8f6f4: floats of 8, 6 and 4 bits, a byte each"
//! arch    sm_120a, sm_121a
//! param   TYPE_A = 0  in 0..4                      "e4m3, e5m2, e3m2, e2m3, e2m1"
//! param   TYPE_B = 0  in 0..4
//! param   HALF   = 0  in {0, 1}                    "1: f16 accumulators"
//! tensor  A : s8[16, 32]
//! tensor  B : s8[8, 32]
//! tensor  D : f32[16, 8]  out
//! launch  grid 1  block 32
//! work    flops 2 * 16 * 8 * 32  bytes 4 * 16 * 8
//! preset  TYPE_A = 0, TYPE_B = 4            "mma.sync: e4m3 * e2m1"
//! preset  TYPE_A = 2, TYPE_B = 3            "mma.sync: e3m2 * e2m3"
//! preset  TYPE_A = 4, TYPE_B = 1, HALF = 1  "mma.sync: e2m1 * e5m2, f16 accumulators"
//! reference mma_f8f6f4_reference  grid 1  block 16 * 8

#include "device/probe/fragments.cuh"

using A_ = probe::SmallType<TYPE_A>;
using B_ = probe::SmallType<TYPE_B>;

#ifndef TMA_JIT_REFERENCE

using D_ = probe::If<HALF == 1, f16, f32>::type;
using Mma = mma::Mma<16, 8, 32, A_::T, B_::T, D_, mma::F8f6f4>;

extern "C" __global__ void mma_f8f6f4(View<const s8, 2> A, View<const s8, 2> B, View<f32, 2> D) {
  u32 a[Mma::a_registers], b[Mma::b_registers];
  probe::fragment_a<A_::T, 8, A_::shift>(a, A);
  probe::fragment_b<B_::T, 8, B_::shift>(b, B);
  Mma::Accumulator d[Mma::d_registers] = {};
  Mma::multiply(d, a, b);
  probe::store_accumulators<D_, 16>(D, d);
}

#else

extern "C" __global__ void mma_f8f6f4_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  D.data[row * D.stride[0] + column * D.stride[1]] = probe::dot<A_::T, B_::T>(A, B, row, column, 32);
}

#endif

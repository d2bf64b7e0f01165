//! kernel  mma_scaled "D = A * B^T by one block-scaled mma.sync: each row's elements of K share factors"
//! arch    sm_120a, sm_121a
//! param   KIND   = 0  in 0..3                      "0 mxf8f6f4, 1 mxf4, 2 mxf4nvf4 of two ue8m0 factors, 3 of four ue4m3"
//! param   TYPE_A = 0  in {0, 2, 4}                 "of mxf8f6f4: e4m3, e3m2, e2m1; others are e2m1"
//! param   TYPE_B = 0  in {0, 1, 3}                 "of mxf8f6f4: e4m3, e5m2, e2m3"
//! param   BYTE   = 0  in 0..3                      "of a factors' word: where they begin"
//! param   THREAD = 0  in {0, 1}                    "of a row's four lanes: which give the factors"
//! let     K       = KIND == 0 ? 32 : 64
//! let     FACTORS = KIND == 0 ? 1 : KIND == 3 ? 4 : 2
//! require KIND == 0 || (TYPE_A == 0 && TYPE_B == 0)  "only mxf8f6f4 has a choice of types"
//! require BYTE % FACTORS == 0                      "factors lie at multiples of their number"
//! tensor  A : s8[16, K]
//! tensor  B : s8[8, K]
//! tensor  D : f32[16, 8]  out
//! launch  grid 1  block 32
//! work    flops 2 * 16 * 8 * K  bytes 4 * 16 * 8
//! preset  KIND = 0                                    "mma.sync: mxf8f6f4"
//! preset  KIND = 0, TYPE_A = 4, TYPE_B = 3, BYTE = 3  "mma.sync: mxf8f6f4 of e2m1 * e2m3"
//! preset  KIND = 1, BYTE = 2, THREAD = 1              "mma.sync: mxf4"
//! preset  KIND = 2                                    "mma.sync: mxf4nvf4, two factors a row"
//! preset  KIND = 3, THREAD = 1                        "mma.sync: mxf4nvf4, four factors a row"
//! reference mma_scaled_reference  grid 1  block 16 * 8

#include "device/probe/fragments.cuh"
#include "device/ptx/mma_block_scale.cuh"

// The factor of a row's block of K is 2 to this power; A and B have different powers.
__device__ inline int power(int row, int block, bool b) {
  return (row + 3 * block + b) % 3;
}

using A_ = probe::SmallType<KIND == 0 ? TYPE_A : 4>;
using B_ = probe::SmallType<KIND == 0 ? TYPE_B : 4>;

#ifndef TMA_JIT_REFERENCE

using Kind = probe::If<
    KIND == 0, mma::Mxf8f6f4,
    probe::If<KIND == 1, mma::Mxf4, probe::If<KIND == 2, mma::Mxf4nvf4_2X, mma::Mxf4nvf4_4X>::type>::type>::type;
using Scale = probe::If<KIND == 3, mma::ue4m3, mma::ue8m0>::type;
constexpr int kBits = KIND == 0 ? 8 : 4;  // bits of an element in a register
constexpr int kShiftA = KIND == 0 ? A_::shift : 0, kShiftB = KIND == 0 ? B_::shift : 0;

// Returns a lane's word with a row's factors; unused bytes, and the words of other lanes, contain values that must be
// ignored.
__device__ inline mma::Factors<BYTE, THREAD> factors(int row, bool gives, bool b) {
  mma::Factors<BYTE, THREAD> factors = {0x01010101};
  if (!gives) return factors;
  for (int i = 0; i < FACTORS; ++i) {
    const u32 exponent = power(row, i, b), code = KIND == 3 ? (exponent + 7) << 3 : exponent + 127;
    factors.word = (factors.word & ~(0xFFU << 8 * (BYTE + i))) | code << 8 * (BYTE + i);
  }
  return factors;
}

extern "C" __global__ void mma_scaled(View<const s8, 2> A, View<const s8, 2> B, View<f32, 2> D) {
  const int g = threadIdx.x / 4, q = threadIdx.x % 4;
  u32 a[4], b[2];
  probe::fragment_a<A_::T, kBits, kShiftA>(a, A);
  probe::fragment_b<B_::T, kBits, kShiftB>(b, B);
  f32 d[4] = {};
  // For A, two lanes provide the factors of rows g and g + 8.
  mma::multiply_scaled<Kind, A_::T, B_::T, Scale>(d, a, b, factors(g + q % 2 * 8, q / 2 == THREAD, false),
                                                  factors(g, q == THREAD, true));
  probe::store_accumulators<f32, 16>(D, d);
}

#else

extern "C" __global__ void mma_scaled_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  f64 sum = 0;
  for (int k = 0; k < K; ++k) {
    const int block = k / (K / FACTORS);
    sum += (1 << (power(row, block, false) + power(column, block, true))) *
           probe::operand<A_::T>(A.data[row * A.stride[0] + k * A.stride[1]]) *
           probe::operand<B_::T>(B.data[column * B.stride[0] + k * B.stride[1]]);
  }
  D.data[row * D.stride[0] + column * D.stride[1]] = sum;
}

#endif

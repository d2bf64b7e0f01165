//! kernel  mma_sync "D = A * B^T by one mma.sync, every dense shape and type that all the targets have"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! param   FORM    = 0    in {0, 1, 2, 3, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}  "0 bf16, 1 f16, 2 f16 in f16, 3 tf32, 12-15 s8 and u8, 16-19 s4 and u4, 20 b1 xor, 21 b1 and"
//! param   ROWS    = 16   in {8, 16}
//! param   BYTES   = 32   in {16, 32}              "bytes of K"
//! param   SATURATE = 0   in {0, 1}                "1: integer sums clamp"
//! let     BITS    = FORM <= 2 ? 16 : FORM == 3 ? 32 : FORM < 16 ? 8 : FORM < 20 ? 4 : 1
//! let     DEPTH   = BYTES * 8 / BITS
//! require ROWS == 16 || (BYTES == 16 && FORM >= 12)  "only integers have m8n8"
//! require SATURATE == 0 || (FORM >= 12 && FORM < 20)  "only sums of 8- and 4-bit integers clamp"
//! tensor  A : s8[ROWS, DEPTH]
//! tensor  B : s8[8, DEPTH]
//! tensor  D : f32[ROWS, 8]  out
//! launch  grid 1  block 32
//! work    flops 2 * ROWS * 8 * DEPTH  bytes 4 * ROWS * 8
//! preset  FORM = 0, BYTES = 32             "mma.sync: bf16"
//! preset  FORM = 1, BYTES = 16             "mma.sync: f16"
//! preset  FORM = 2, BYTES = 32             "mma.sync: f16, f16 accumulators"
//! preset  FORM = 3, BYTES = 32             "mma.sync: tf32"
//! preset  FORM = 12, BYTES = 32            "mma.sync: s8"
//! preset  FORM = 16, BYTES = 32            "mma.sync: s4"
//! preset  FORM = 12, BYTES = 32, SATURATE = 1  "mma.sync: s8, clamped"
//! preset  FORM = 21, BYTES = 32            "mma.sync: b1"
//! reference mma_sync_reference  grid 1  block ROWS * 8

#include "device/probe/fragments.cuh"

template <int Form> struct Types : probe::Types<Form> {};
template <class TA, class TB = TA> struct Integers {
  using A = TA;
  using B = TB;
  using D = s32;
};
template <> struct Types<16> : Integers<mma::s4> {};
template <> struct Types<17> : Integers<mma::s4, mma::u4> {};
template <> struct Types<18> : Integers<mma::u4, mma::s4> {};
template <> struct Types<19> : Integers<mma::u4> {};
template <> struct Types<20> : Integers<mma::b1> {};
template <> struct Types<21> : Integers<mma::b1> {};
using A_ = Types<FORM>::A;
using B_ = Types<FORM>::B;
using D_ = Types<FORM>::D;

// Saturating sums start this far above the least s32, so that they reach it.
constexpr int kWay = 8;

#ifndef TMA_JIT_REFERENCE

using Asked = probe::If<SATURATE == 1, mma::Satfinite, mma::None>::type;
using Last = probe::If<FORM == 20, mma::XorPopc, probe::If<FORM == 21, mma::AndPopc, mma::None>::type>::type;
using Mma = mma::Mma<ROWS, 8, DEPTH, A_, B_, D_, Asked, Last>;

extern "C" __global__ void mma_sync(View<const s8, 2> A, View<const s8, 2> B, View<f32, 2> D) {
  u32 a[Mma::a_registers], b[Mma::b_registers];
  probe::fragment_a<A_, BITS, 0>(a, A);
  probe::fragment_b<B_, BITS, 0>(b, B);
  Mma::Accumulator d[Mma::d_registers] = {};
  if constexpr (SATURATE == 1)
    for (Mma::Accumulator& sum : d) sum = 0x80000000 + kWay;
  Mma::multiply(d, a, b);
  if constexpr (SATURATE == 1)
    for (Mma::Accumulator& sum : d) sum -= 0x80000000 + kWay;
  probe::store_accumulators<D_, ROWS>(D, d);
}

#else

extern "C" __global__ void mma_sync_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  s32 sum = probe::dot<A_, B_>(A, B, row, column, DEPTH);
  if constexpr (FORM == 20) {  // counts differing bits
    sum = 0;
    for (int k = 0; k < DEPTH; ++k)
      sum += (A.data[row * A.stride[0] + k * A.stride[1]] ^ B.data[column * B.stride[0] + k * B.stride[1]]) & 1;
  }
  D.data[row * D.stride[0] + column * D.stride[1]] = SATURATE == 1 ? max(sum, -kWay) : sum;
}

#endif

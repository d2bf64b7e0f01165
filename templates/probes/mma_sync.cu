//! kernel  mma_sync "D = A * B^T by one mma.sync, every dense shape and type that all the targets have"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! param   FORM    = 0    in {0, 1, 2, 3, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}  "0 bf16, 1 f16, 2 f16 in f16, 3 tf32, 12-15 s8 and u8, 16-19 s4 and u4, 20 b1 xor, 21 b1 and"
//! param   ROWS    = 16   in {8, 16}
//! param   BYTES   = 32   in {16, 32}              "bytes of K"
//! let     BITS    = FORM <= 2 ? 16 : FORM == 3 ? 32 : FORM < 16 ? 8 : FORM < 20 ? 4 : 1
//! let     DEPTH   = BYTES * 8 / BITS
//! require ROWS == 16 || (BYTES == 16 && FORM >= 12)  "only integers have m8n8"
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
//! preset  FORM = 21, BYTES = 32            "mma.sync: b1"
//! reference mma_sync_reference  grid 1  block ROWS * 8

#include "device/mma.cuh"
#include "device/probe_operands.cuh"

template <int Form> struct Types : probe::Types<Form> {};
template <> struct Types<16> {
  using A = mma::s4;
  using B = mma::s4;
  using D = s32;
};
template <> struct Types<17> {
  using A = mma::s4;
  using B = mma::u4;
  using D = s32;
};
template <> struct Types<18> {
  using A = mma::u4;
  using B = mma::s4;
  using D = s32;
};
template <> struct Types<19> {
  using A = mma::u4;
  using B = mma::u4;
  using D = s32;
};
template <> struct Types<20> {
  using A = mma::b1;
  using B = mma::b1;
  using D = s32;
};
template <> struct Types<21> : Types<20> {};
using A_ = Types<FORM>::A;
using B_ = Types<FORM>::B;
using D_ = Types<FORM>::D;

template <class T> __device__ inline int value_of(s8 drawn) {
  if constexpr (ptx::kSame<T, mma::b1>) return drawn & 1;
  if constexpr (ptx::kSame<T, mma::u4>) return drawn & 7;
  return probe::value<T>(drawn);
}

#ifndef TMA_JIT_REFERENCE

using Last = probe::If<FORM == 20, mma::XorPopc, probe::If<FORM == 21, mma::AndPopc, mma::None>::type>::type;
using Mma = mma::Mma<ROWS, 8, DEPTH, A_, B_, D_, mma::None, Last>;

// 32 bits of row `row` from byte `byte` of K.
template <class T> __device__ inline u32 word(const View<const s8, 2>& from, int row, int byte) {
  u32 bits = 0;
  for (int i = 0; i < 32 / BITS; ++i) {
    const int x = value_of<T>(from.data[row * from.stride[0] + (byte * 8 / BITS + i) * from.stride[1]]);
    const u32 code = BITS >= 8 ? probe::encoded<T>(x) : static_cast<u32>(x);
    bits |= (code & (BITS == 32 ? ~0U : (1U << BITS % 32) - 1)) << i * BITS % 32;
  }
  return bits;
}

extern "C" __global__ void mma_sync(View<const s8, 2> A, View<const s8, 2> B, View<f32, 2> D) {
  const int g = threadIdx.x / 4, q = threadIdx.x % 4;
  u32 a[Mma::a_registers], b[Mma::b_registers];
  for (int i = 0; i < Mma::a_registers; ++i) a[i] = word<A_>(A, g + i % 2 * 8, i / 2 * 16 + q * 4);
  for (int i = 0; i < Mma::b_registers; ++i) b[i] = word<B_>(B, g, i * 16 + q * 4);
  Mma::Accumulator d[Mma::d_registers] = {};
  Mma::multiply(d, a, b);
  for (int i = 0; i < ROWS / 4; ++i)
    D.data[(g + i / 2 * 8) * D.stride[0] + q * 2 + i % 2] = probe::accumulator<D_>(d, i);
}

#else

extern "C" __global__ void mma_sync_reference(View<const s8, 2> A, View<const s8, 2> B, View<f64, 2> D) {
  const int row = threadIdx.x / 8, column = threadIdx.x % 8;
  s32 sum = 0;
  for (int k = 0; k < DEPTH; ++k) {
    const int a = value_of<A_>(A.data[row * A.stride[0] + k * A.stride[1]]);
    const int b = value_of<B_>(B.data[column * B.stride[0] + k * B.stride[1]]);
    sum += FORM == 20 ? a != b : a * b;
  }
  D.data[row * D.stride[0] + column * D.stride[1]] = sum;
}

#endif

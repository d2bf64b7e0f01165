#pragma once
// The operands of the mma.sync probes: values of every type, packed into words as fragments require. They are the
// values of operands.cuh, which are exact in the float types of 4 and 6 bits as well.
#include "device/probe/operands.cuh"
#include "device/ptx/mma.cuh"

namespace probe {

// -4 to 3 in a float type of 4 or 6 bits. The bytes of a word are the codes of 0, 1, 2 and 3; the code of 4 is
// separate.
template <class T> struct SmallFloat;
template <> struct SmallFloat<mma::e2m1> { static constexpr u32 magnitudes = 0x05040200, four = 6, sign = 8; };
template <> struct SmallFloat<mma::e2m3> { static constexpr u32 magnitudes = 0x14100800, four = 0x18, sign = 0x20; };
template <> struct SmallFloat<mma::e3m2> { static constexpr u32 magnitudes = 0x12100C00, four = 0x14, sign = 0x20; };

template <class T> __device__ inline int operand(s8 drawn) {
  if constexpr (ptx::kSame<T, mma::b1>) return drawn & 1;
  if constexpr (ptx::kSame<T, mma::u4>) return drawn & 7;
  return value<T>(drawn);
}

// Returns the bits of a value, in the low bits of a word.
template <class T> __device__ inline u32 code(int x) {
  if constexpr (ptx::kOneOf<T, mma::e2m1, mma::e2m3, mma::e3m2>) {
    const u32 magnitude = x < 0 ? -x : x;
    const u32 bits = magnitude == 4 ? SmallFloat<T>::four : SmallFloat<T>::magnitudes >> 8 * magnitude & 0xFF;
    return x < 0 ? bits | SmallFloat<T>::sign : bits;
  } else if constexpr (mma::kBits<T> < 8) {
    return static_cast<u32>(x) & ((1U << mma::kBits<T>)-1);
  } else {
    return encoded<T>(x);
  }
}

// Returns 32 bits of row `row` from byte `byte` of K: elements of `Bits` bits, each shifted left by `Shift` bits.
template <class T, int Bits = mma::kBits<T>, int Shift = 0>
__device__ inline u32 word(const View<const s8, 2>& from, int row, int byte) {
  u32 bits = 0;
  for (int i = 0; i < 32 / Bits; ++i) {
    const s8 drawn = from.data[row * from.stride[0] + (byte * 8 / Bits + i) * from.stride[1]];
    bits |= code<T>(operand<T>(drawn)) << (i * Bits + Shift);
  }
  return bits;
}

// Returns element (row, column) of the product.
template <class TA, class TB>
__device__ inline s32 dot(const View<const s8, 2>& A, const View<const s8, 2>& B, int row, int column, int depth) {
  s32 sum = 0;
  for (int k = 0; k < depth; ++k)
    sum += operand<TA>(A.data[row * A.stride[0] + k * A.stride[1]]) *
           operand<TB>(B.data[column * B.stride[0] + k * B.stride[1]]);
  return sum;
}

// Fills the fragments of a warp, with the layout of mma::Mma.
template <class T, int Bits, int Shift, int Count>
__device__ inline void fragment_a(u32 (&a)[Count], const View<const s8, 2>& A) {
  for (int i = 0; i < Count; ++i)
    a[i] = word<T, Bits, Shift>(A, threadIdx.x / 4 + i % 2 * 8, i / 2 * 16 + threadIdx.x % 4 * 4);
}
template <class T, int Bits, int Shift, int Count>
__device__ inline void fragment_b(u32 (&b)[Count], const View<const s8, 2>& B) {
  for (int i = 0; i < Count; ++i) b[i] = word<T, Bits, Shift>(B, threadIdx.x / 4, i * 16 + threadIdx.x % 4 * 4);
}

// Stores the lanes' elements of 8 or 16 rows and 8 columns to D.
template <class TD, int Rows, class Register>
__device__ inline void store_accumulators(const View<f32, 2>& D, const Register* d) {
  for (int i = 0; i < Rows / 4; ++i)
    D.data[(threadIdx.x / 4 + i / 2 * 8) * D.stride[0] + (threadIdx.x % 4 * 2 + i % 2) * D.stride[1]] =
        accumulator<TD>(d, i);
}

// Operand types of kinds f8f6f4 and mxf8f6f4 by number, and the position of their bits in a byte of a register.
template <int Number> struct SmallType;
template <> struct SmallType<0> {
  using T = e4m3;
  static constexpr int shift = 0;
};
template <> struct SmallType<1> {
  using T = e5m2;
  static constexpr int shift = 0;
};
template <> struct SmallType<2> {
  using T = mma::e3m2;
  static constexpr int shift = 0;
};
template <> struct SmallType<3> {
  using T = mma::e2m3;
  static constexpr int shift = 0;
};
template <> struct SmallType<4> {
  using T = mma::e2m1;
  static constexpr int shift = 2;
};

}  // namespace probe

#pragma once
// The operands of the matrix-unit probes: small integers, exact in every type and every sum, derived from an s8 tensor
// of any values. Also the position of an operand's bytes in a tile, computed independently of the tiles of kernels.
#include "device/ptx/cvt.cuh"
#include "device/ptx/text.cuh"
#include "device/tile/swizzle.cuh"

namespace probe {

// Returns -4 to 3, or 0 to 7 for unsigned types.
template <class T> __device__ inline int value(s8 drawn) {
  return (drawn & 7) - (ptx::kSame<T, u8> ? 0 : 4);
}

// Returns the bits of a value in type T, in the low bytes.
template <class T> __device__ inline u32 encoded(int x) {
  if constexpr (ptx::kSame<T, tf32>) {
    return __float_as_uint(static_cast<f32>(x));
  } else if constexpr (ptx::kOneOf<T, bf16, f16>) {
    return from_f32<T>(static_cast<f32>(x)).bits;
  } else if constexpr (ptx::kOneOf<T, e4m3, e5m2>) {
    // The high byte of the f16; for e4m3 with one more bit of mantissa, and an exponent bias of 7 instead of 15.
    const u32 half = from_f32<f16>(static_cast<f32>(x)).bits;
    if constexpr (ptx::kSame<T, e5m2>) return half >> 8;
    return x == 0 ? 0 : (half >> 8 & 0x80) | (((half >> 7 & 0xFF) - 64) & 0x7F);
  } else {
    return static_cast<u8>(x);
  }
}

// Packs sixteen values of `Bits` bits into the first of 16 bytes, in order, as packed types lie in memory. `value(i)`
// is the i-th.
template <int Bits, class Value> __device__ inline void pack_row(u8* to, Value value) {
  for (int i = 0; i < 16; ++i) to[i] = 0;
  for (int i = 0; i < 16; ++i)
    for (int bit = 0; bit < Bits; ++bit)
      to[(i * Bits + bit) / 8] |= static_cast<u8>((value(i) >> bit & 1) << (i * Bits + bit) % 8);
}

// The layout of an operand in shared memory: the swizzle's width in bytes, or 0, and the major order.
struct Layout {
  int swizzle;
  bool mn_major;
};

// Returns the byte of element (row, k) of a tile of `rows` rows (of M or N) by 128 bytes of K. K-major: panels of
// `swizzle` bytes of K, one after the other, each row by row. MN-major, with kDepth elements of K: panels of `swizzle`
// bytes of M or N, each k by k. Swizzle 0: core matrices of 8 x 16 bytes, first along M or N if the tile is K-major,
// else first along K. Then the swizzle.
template <int Bytes> __device__ inline u32 place(Layout layout, int rows, int row, int k) {
  constexpr int kDepth = 128 / Bytes;
  const int width = layout.swizzle;
  const int major = (layout.mn_major ? row : k) * Bytes, minor = layout.mn_major ? k : row;
  const int minors = layout.mn_major ? kDepth : rows;
  if (width == 0) return (major / 16 * (minors / 8) + minor / 8) * 128 + minor % 8 * 16 + major % 16;
  return swizzle::moved(major / width * (minors * width) + minor * width + major % width, width);
}

// Fills such a tile with values of T. Called by all threads of the block.
template <class T>
__device__ __noinline__ void fill(u8* tile, Layout layout, int rows, const View<const s8, 2>& drawn) {
  constexpr int kDepth = 128 / sizeof(T);
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * kDepth; i += blockDim.x) {
    const int row = i / kDepth, k = i % kDepth;
    const u32 bits = encoded<T>(value<T>(drawn.data[row * drawn.stride[0] + k * drawn.stride[1]]));
    u8* to = tile + place<sizeof(T)>(layout, rows, row, k);
    for (int byte = 0; byte < int{sizeof(T)}; ++byte) to[byte] = static_cast<u8>(bits >> byte * 8);
  }
}

// Makes the tiles that a probe filled visible to wgmma and tcgen05, which read shared memory through the async proxy.
__device__ inline void publish() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

template <bool, class Yes, class No> struct If { using type = Yes; };
template <class Yes, class No> struct If<false, Yes, No> { using type = No; };

// The operand and accumulator types by number: 0 bf16, 1 f16, 2 f16 with f16 accumulators, 3 tf32, 4 to 7 8-bit floats
// (second bit: A is e5m2; first bit: B is e5m2), 8 to 11 the same with f16 accumulators, 12 to 15 8-bit integers
// (second bit: A is u8; first bit: B is u8).
template <int Form> struct Types {
  using Float8A = typename If<(Form & 2) != 0, e5m2, e4m3>::type;
  using Float8B = typename If<(Form & 1) != 0, e5m2, e4m3>::type;
  using A = typename If<(Form >= 12), typename If<(Form & 2) != 0, u8, s8>::type, Float8A>::type;
  using B = typename If<(Form >= 12), typename If<(Form & 1) != 0, u8, s8>::type, Float8B>::type;
  using D = typename If<(Form >= 12), s32, typename If<(Form >= 8), f16, f32>::type>::type;
};
template <class Both, class Sum> struct Alike {
  using A = Both;
  using B = Both;
  using D = Sum;
};
template <> struct Types<0> : Alike<bf16, f32> {};
template <> struct Types<1> : Alike<f16, f32> {};
template <> struct Types<2> : Alike<f16, f16> {};
template <> struct Types<3> : Alike<tf32, f32> {};

// Returns accumulator i of a thread as a number; two f16 accumulators share a word.
template <class D> __device__ inline f32 accumulator(const f32* d, int i) {
  return d[i];
}
template <class D> __device__ inline f32 accumulator(const u32* d, int i) {
  if constexpr (ptx::kSame<D, f16>)
    return to_f32(f16{static_cast<u16>(d[i / 2] >> i % 2 * 16)});
  else
    return static_cast<f32>(static_cast<s32>(d[i]));
}

}  // namespace probe

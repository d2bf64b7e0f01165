#pragma once
// Numbers of 4 bits, e2m1: 0, 0.5, 1, 1.5, 2, 3, 4 and 6 and their negatives. A byte holds two, the first in its lower
// half. PTX ISA 9.0, "cvt".
#include "device/ptx/cvt.cuh"

namespace e2m1 {

// Rounds x to the nearest number, of two the even one: its code is in bits 22 to 24, its sign in bit 31. Its magnitude
// is below 7. As multiples of the least normal f32, e2m1 have the spacing of f32 but for 22 bits; below 1, x is rounded
// to multiples of 2^-23 first.
__device__ inline u32 rounded(f32 x) {
  f32 product;
  asm("mul.rn.f32 %0, %1, 0f00800000;" : "=f"(product) : "f"(x));
  const u32 bits = __float_as_uint(product);
  return bits + 0x1fffff + (bits >> 22 & 1);
}

// Eight numbers as four bytes, the first in the lowest bits. Their magnitudes are below 7.
__device__ inline u32 pack(const f32 (&x)[8]) {
  u32 word = 0;
#pragma unroll
  for (int i = 3; i >= 0; --i) {
#if __CUDA_ARCH__ >= 1000
    u16 pair;
    asm("{.reg .b8 q; cvt.rn.satfinite.e2m1x2.f32 q, %1, %2; cvt.u16.u8 %0, q;}"
        : "=h"(pair)
        : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    word = word << 8 | pair;
#else
    const u32 both = __byte_perm(rounded(x[i]), rounded(x[i + 4]), 0x7632);  // the upper halves
    word = word << 4 | (both >> 6 & 0x00070007) | (both >> 12 & 0x00080008);
#endif
  }
  return word;
}

// The number whose code is in the lowest 4 bits: as an f16, except for the exponent's bias of 1.
__device__ inline f32 to_f32(u32 code) {
  return ::to_f32(f16{static_cast<u16>((code & 7) << 9 | (code & 8) << 12)}) * 16384;
}

}  // namespace e2m1

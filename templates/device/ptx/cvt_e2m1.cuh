#pragma once
// Numbers of 4 bits, e2m1: 0, 0.5, 1, 1.5, 2, 3, 4 and 6 and their negatives. A byte holds two, the first in its lower
// half. PTX ISA 9.0, "cvt".
#include "device/ptx/cvt.cuh"

namespace e2m1 {

// The code of the nearest number, of two the even one; magnitudes above 6 and NaN become 6.
__device__ inline u32 code_of(f32 x) {
  const f32 size = fminf(fabsf(x), 6.0F);
  // The sum's last bit is the distance between numbers of x's size: 0.5 below 2, 1 below 4, 2 above.
  const u32 exponent = max(__float_as_uint(size) & 0x7f800000, 0x3f800000u), magic = exponent + (22u << 23);
  const u32 steps = __float_as_uint(size + __uint_as_float(magic)) - magic;
  return (steps + (exponent >> 22) - 2 * 127) | (__float_as_uint(x) >> 28 & 8);
}

// Two numbers as a byte.
__device__ inline u32 pack(f32 lo, f32 hi) {
#if __CUDA_ARCH__ >= 1000
  u16 pair;
  asm("{.reg .b8 q; cvt.rn.satfinite.e2m1x2.f32 q, %1, %2; cvt.u16.u8 %0, q;}" : "=h"(pair) : "f"(hi), "f"(lo));
  return pair;
#else
  return code_of(lo) | code_of(hi) << 4;
#endif
}

// The number whose code is in the lowest 4 bits: as an f16, except for the exponent's bias of 1.
__device__ inline f32 to_f32(u32 code) {
  return ::to_f32(f16{static_cast<u16>((code & 7) << 9 | (code & 8) << 12)}) * 16384;
}

}  // namespace e2m1

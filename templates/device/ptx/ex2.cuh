#pragma once
// 2 to the power of x. PTX ISA 9.0, "ex2".
#include "device/types.cuh"

constexpr f32 kLog2e = 1.44269504F;  // the factor of an exponent of e to be one of 2

// By the unit for special functions, which computes 16 per clock and SM; relative error 2^-22, results below 2^-126 are
// 0.
__device__ inline f32 ex2(f32 x) {
  f32 r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// The same by arithmetic for x up to 127, where the special functions are the bottleneck; relative error 9e-5, and 0
// below -127. A polynomial of degree 3 gives 2 to the fraction of x (Sollya's, minimax on [0, 1)), and adding the
// integer part to the exponent's bits scales it.
__device__ inline f32 ex2_polynomial(f32 x) {
  constexpr f32 kRound = 12582912;  // 1.5 * 2^23: a sum with it has no fraction, and its lowest bits are the integer
  const f32 limited = fmaxf(x, -127.0F), integer = __fadd_rd(limited, kRound), f = limited - (integer - kRound);
  const f32 power =
      fmaf(fmaf(fmaf(0.077119089663028717F, f, 0.227564394474029541F), f, 0.695146143436431885F), f, 1.0F);
  return __uint_as_float((__float_as_uint(integer) << 23) + __float_as_uint(power));
}

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

// By multiply-adds instead, as the unit above is what attention waits for: the polynomial of degree 4 whose relative
// error over half an octave to either side is least, 2.6e-6, and an addition to the exponent. Results below 2^-126 are
// 0.
__device__ inline f32 ex2_polynomial(f32 x) {
  constexpr f32 kRound = 12582912;  // 1.5 * 2^23: the sum's low bits are the nearest integer
  const f32 rounded = x + kRound, left = x - (rounded - kRound);
  f32 power = fmaf(fmaf(0.0095701019F, left, 0.055917860F), left, 0.24024745F);
  power = fmaf(fmaf(power, left, 0.69312181F), left, 0.99999926F);
  return x < -126 ? 0 : __int_as_float(__float_as_int(power) + (__float_as_int(rounded) << 23));
}

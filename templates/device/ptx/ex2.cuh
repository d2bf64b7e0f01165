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

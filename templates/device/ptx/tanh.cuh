#pragma once
// The hyperbolic tangent. PTX ISA 9.0, "tanh".
#include "device/types.cuh"

// By the unit for special functions, which computes 16 per clock and SM; relative error 2^-11.
__device__ inline f32 tanh_approx(f32 x) {
  f32 r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

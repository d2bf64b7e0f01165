#pragma once
// The reciprocal. PTX ISA 9.0, "rcp".
#include "device/types.cuh"

// By the unit for special functions, which computes 16 per clock and SM; within 1 unit in the last place, results and
// operands below 2^-126 are 0.
__device__ inline f32 rcp(f32 x) {
  f32 r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

#pragma once
// The greater and the smaller of two numbers; NaN if one is. PTX ISA 9.0, "max" and "min".
#include "device/types.cuh"

__device__ inline f32 max_nan(f32 a, f32 b) {
  f32 r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
__device__ inline f32 min_nan(f32 a, f32 b) {
  f32 r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
__device__ inline f64 max_nan(f64 a, f64 b) {
  return a > b || a != a ? a : b;
}
__device__ inline f64 min_nan(f64 a, f64 b) {
  return a < b || a != a ? a : b;
}

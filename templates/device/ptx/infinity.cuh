#pragma once
// What is greater than every finite f32.
#include "device/types.cuh"

__device__ inline f32 infinity() {
  return __int_as_float(0x7f800000);
}

#pragma once
// Sums of four numbers at a time.
#include "device/types.cuh"

__device__ inline float4 plus(const float4& a, const float4& b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

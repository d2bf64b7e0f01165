// A header of the application's own for its templates.
#pragma once

__device__ inline float scaled(float value, float factor) {
  return value * factor;
}

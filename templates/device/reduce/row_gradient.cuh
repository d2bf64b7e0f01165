#pragma once
// What the gradients of a norm need of a row: y = h * w + b with h = (x - mean) * r, where r is one over the root of
// the variance; of rms_norm the mean is 0 and the variance the mean of squares.
#include "device/types.cuh"

// Of some elements of a row: the mean of x, the sum of the squares of its distances from that, the sum of
// g = DY * w, and the sum of g times those distances.
struct alignas(16) PartSums {
  f32 mean, squares, g, gx;
};

// DX = r * (g - mean_g - h * mean_gh).
struct RowGradient {
  f32 mean, r, mean_g, mean_gh;

  // Of all `count` elements of a row.
  template <bool Centered> __device__ static RowGradient of(const PartSums& all, f32 count, f32 eps) {
    const f32 r = rsqrtf(all.squares / count + eps);
    return {Centered ? all.mean : 0, r, Centered ? all.g / count : 0, all.gx * r / count};
  }
};

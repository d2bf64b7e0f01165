#pragma once
// Probabilities of tokens as integers, so that their sums are the same in any order and on every device.
#include "device/ptx/ex2.cuh"

// exp((x - greatest) / temperature) in units of 2^-31, rounded, by multiplications and additions of f32 alone. Elements
// equal to the greatest have 2^31, also where that is infinite or the temperature 0; minus infinity has 0.
struct TokenWeight {
  f32 greatest, scale;

  __device__ TokenWeight(f32 greatest, f32 temperature)
      : greatest(greatest), scale(kLog2e / fmaxf(temperature, 0.0F)) {}
  __device__ u32 operator()(f32 x) const {
    const f32 t = fmaxf((x - greatest) * scale, -33.0F);  // a NaN becomes -33, and what has less than 2^-32 gets 0
    const f32 whole = rintf(t), part = t - whole;
    f32 y = 1.52527338e-5F;  // 2^part by its Taylor series, relative error 1e-8
    y = fmaf(y, part, 1.54035304e-4F);
    y = fmaf(y, part, 1.33335581e-3F);
    y = fmaf(y, part, 9.61812911e-3F);
    y = fmaf(y, part, 5.55041087e-2F);
    y = fmaf(y, part, 2.40226507e-1F);
    y = fmaf(y, part, 6.93147181e-1F);
    y = fmaf(y, part, 1.0F);
    const u32 weight = __float2uint_rn(y * __int_as_float((158 + static_cast<int>(whole)) << 23));
    return x == greatest ? u32{1} << 31 : weight;
  }
};

// Where a token lies between those that have no weight and the greatest: below `places`, in proportion to the logarithm
// of its weight.
struct TokenPlace {
  f32 greatest, scale, last;

  __device__ TokenPlace(const TokenWeight& weight, int places)
      : greatest(weight.greatest),
        scale(weight.scale * (static_cast<f32>(places - 1) / 33)),
        last(static_cast<f32>(places - 1)) {}
  __device__ u32 operator()(f32 x) const {
    return static_cast<u32>(x == greatest ? last : last - fminf((greatest - x) * scale, last));
  }
};

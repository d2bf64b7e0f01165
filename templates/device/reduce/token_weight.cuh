#pragma once
// Probabilities of tokens as integers, so that their sums are the same in any order and on every device.
#include "device/ptx/ex2.cuh"

// The nearest whole number of one below 2^22 is the lower bits of its sum with this, as an integer less kWholeBits:
// unlike the instruction that converts, an addition costs what others do.
constexpr f32 kWhole = 12582912.0F;
constexpr s32 kWholeBits = 0x4b400000;

// exp((x - greatest) / temperature) in units of 2^-31, rounded down, by multiplications and additions of f32 and by
// operations on integers. Elements equal to the greatest have 2^31, also where that is infinite or the temperature 0;
// minus infinity has 0.
struct TokenWeight {
  f32 greatest, scale;

  __device__ TokenWeight(f32 greatest, f32 temperature)
      : greatest(greatest), scale(kLog2e / fmaxf(temperature, 0.0F)) {}
  // The logarithm to base 2, -33 at least; a NaN becomes -33, and what has less than 2^-31 gets 0.
  __device__ f32 logarithm(f32 x) const { return fmaxf((x - greatest) * scale, -33.0F); }
  __device__ u32 operator()(f32 x) const {
    const f32 t = logarithm(x), shifted = t + kWhole, part = t - (shifted - kWhole);
    f32 y = 1.52527338e-5F;  // 2^part by its Taylor series, relative error 1e-8
    y = fmaf(y, part, 1.54035304e-4F);
    y = fmaf(y, part, 1.33335581e-3F);
    y = fmaf(y, part, 9.61812911e-3F);
    y = fmaf(y, part, 5.55041087e-2F);
    y = fmaf(y, part, 2.40226507e-1F);
    y = fmaf(y, part, 6.93147181e-1F);
    y = fmaf(y, part, 1.0F);
    // y's significand, its first bit included, at the top of a word, is shifted by how far its exponent is below 0.
    const u32 bits = __float_as_uint(y), significand = bits << 8 | 0x80000000;
    const s32 below = 127 + kWholeBits - static_cast<s32>(bits >> 23) - __float_as_int(shifted);
    const u32 weight = below > 31 ? 0 : significand >> below;
    return x == greatest ? u32{1} << 31 : weight;
  }
};

// Where a token that has a weight lies between the least and the greatest: below `places`, a power of two, in
// proportion to its logarithm.
struct TokenPlace {
  const TokenWeight& weight;
  f32 scale, last;

  __device__ TokenPlace(const TokenWeight& weight, int places)
      : weight(weight), scale(static_cast<f32>(places - 1) / 33), last(static_cast<f32>(places - 1) + kWhole) {}
  __device__ u32 operator()(f32 x) const {
    return __float_as_uint(fmaf(weight.logarithm(x), scale, last)) - kWholeBits;
  }
};

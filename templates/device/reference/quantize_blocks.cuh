#pragma once
// What the references of kernels with a scale of 8 bits for each 16 or 32 columns share.
#include "device/reference/quantize.cuh"
#include "device/tile/block_scale.cuh"

struct ReferenceScale {
  f64 stored, value;  // as a code or an e4m3; of what the elements are multiples
};

// The nearest e4m3, 0 or more, of two the even one.
__device__ inline f64 nearest_e4m3(f64 x) {
  int exponent = -6;
  while (exponent < 8 && x >= ldexp(2.0, exponent)) ++exponent;
  return min(rint(ldexp(x, 3 - exponent)) * ldexp(1.0, exponent - 3), 448.0);
}

// Of the elements x(j) for j from `first` on.
template <int Scales, class X> __device__ inline ReferenceScale reference_scale(X x, s64 first, f64 unit) {
  constexpr bool kFour = Scales >= 4;
  f64 greatest = 0;
  bool none = false;
  for (s64 j = first; j < first + (Scales == 5 ? 16 : 32); ++j) {
    greatest = fmax(greatest, fabs(x(j)));
    none = none || x(j) != x(j);
  }
  const f64 nan = __longlong_as_double(-1);
  if constexpr (Scales == 5) {
    const f64 units = greatest == 0 ? 0 : static_cast<f32>(static_cast<f32>(greatest / 6) / fabs(unit));
    const f64 scale = none || units != units ? nan : nearest_e4m3(units);
    return {scale, static_cast<f32>(scale * unit)};
  } else {
    if (kFour && none) return {255, nan};
    int exponent = -127;
    while (exponent < (kFour ? 126 : 120) && greatest > (kFour ? 6 : 448) * ldexp(1.0, exponent)) ++exponent;
    return {exponent + 127.0, ldexp(1.0, exponent)};
  }
}

// The code of the e2m1 that is nearest to x in units of the scale, of two the even one; 0 if the scale is NaN, and 6's
// if it is 0 or infinite and x infinite.
__device__ inline f64 e2m1_code(f64 x, const ReferenceScale& scale) {
  const f64 numbers[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  if (scale.value != scale.value) return 0;
  const f32 inverse = fabs(scale.value) < 0x1p-126 ? 0.0F : static_cast<f32>(1 / scale.value);
  f64 q = static_cast<f32>(x) * inverse;  // rounded as it is there
  if (q != q) return 7;
#if __CUDA_ARCH__ < 1000
  if (fabs(q) < 1) q = copysign(rint(fabs(q) * 8388608) / 8388608, q);
#endif
  int code = 0;
  for (; code < 7; ++code) {
    const f64 between = (numbers[code] + numbers[code + 1]) / 2;
    if (fabs(q) < between || (fabs(q) == between && code % 2 == 0)) break;
  }
  return code + (__double_as_longlong(q) < 0 ? 8 : 0);
}

#pragma once
// Numbers with their derivative by one variable: a hook's text, computed with a Dual in place of a number, gives its
// value and its derivative. Other numbers become a Dual of slope 0. Where a function has no derivative, as the absolute
// value at 0, the one of a side is taken. Activations are known where the text names one, as device/tile/activation.cuh
// is then included before.
#include "device/types.cuh"

template <class X> struct Dual {
  X value, slope;

  __device__ constexpr Dual(X value) : value(value), slope(0) {}
  __device__ constexpr Dual(X value, X slope) : value(value), slope(slope) {}

  friend __device__ constexpr Dual operator+(Dual a) { return a; }
  friend __device__ constexpr Dual operator-(Dual a) { return {-a.value, -a.slope}; }
  friend __device__ constexpr Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend __device__ constexpr Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend __device__ constexpr Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend __device__ constexpr Dual operator/(Dual a, Dual b) { return quotient(a.value / b.value, a, b); }
  friend __device__ constexpr bool operator<(Dual a, Dual b) { return a.value < b.value; }
  friend __device__ constexpr bool operator<=(Dual a, Dual b) { return a.value <= b.value; }
  friend __device__ constexpr bool operator>(Dual a, Dual b) { return a.value > b.value; }
  friend __device__ constexpr bool operator>=(Dual a, Dual b) { return a.value >= b.value; }
  friend __device__ constexpr bool operator==(Dual a, Dual b) { return a.value == b.value; }
  friend __device__ constexpr bool operator!=(Dual a, Dual b) { return a.value != b.value; }
  friend __device__ bool isnan(Dual a) { return isnan(a.value); }
  friend __device__ bool isinf(Dual a) { return isinf(a.value); }
  friend __device__ bool isfinite(Dual a) { return isfinite(a.value); }

// The function NAME(x), whose result is y and whose derivative is SLOPE; TMA_JIT_DUAL defines NAME for f32 too.
#define TMA_JIT_DUAL_ONE(NAME, SLOPE)                                  \
  friend __device__ Dual NAME(Dual a) {                                \
    [[maybe_unused]] const X x = a.value, y = static_cast<X>(NAME(x)); \
    return {y, a.slope * static_cast<X>(SLOPE)};                       \
  }
#define TMA_JIT_DUAL(NAME, SLOPE) TMA_JIT_DUAL_ONE(NAME, SLOPE) TMA_JIT_DUAL_ONE(NAME##f, SLOPE)
// The same where SLOPE may be infinite, as that of sqrt at 0: a number that does not depend on the variable, as
// max(s, 0) for a negative s, has the slope 0 all the same.
#define TMA_JIT_DUAL_STEEP(NAME, SLOPE) TMA_JIT_DUAL(NAME, a.slope == 0 ? X(0) : SLOPE)
  TMA_JIT_DUAL_ONE(abs, x < 0 ? -1 : 1)
  TMA_JIT_DUAL(fabs, x < 0 ? -1 : 1)
  TMA_JIT_DUAL(floor, 0)
  TMA_JIT_DUAL(ceil, 0)
  TMA_JIT_DUAL(trunc, 0)
  TMA_JIT_DUAL(round, 0)
  TMA_JIT_DUAL(rint, 0)
  TMA_JIT_DUAL(nearbyint, 0)
  TMA_JIT_DUAL_STEEP(sqrt, X(0.5) / y)
  TMA_JIT_DUAL_STEEP(rsqrt, X(-0.5) * y / x)
  TMA_JIT_DUAL_STEEP(cbrt, y / (3 * x))
  TMA_JIT_DUAL_STEEP(rcbrt, -y / (3 * x))
  TMA_JIT_DUAL(exp, y)
  TMA_JIT_DUAL(exp2, y* X(kLn2))
  TMA_JIT_DUAL(exp10, y* X(kLn10))
  TMA_JIT_DUAL(expm1, y + 1)
  TMA_JIT_DUAL_STEEP(log, 1 / x)
  TMA_JIT_DUAL_STEEP(log2, 1 / (x * X(kLn2)))
  TMA_JIT_DUAL_STEEP(log10, 1 / (x * X(kLn10)))
  TMA_JIT_DUAL_STEEP(log1p, 1 / (1 + x))
  TMA_JIT_DUAL_ONE(__expf, y)
  TMA_JIT_DUAL_ONE(__exp10f, y* X(kLn10))
  TMA_JIT_DUAL_ONE(__logf, a.slope == 0 ? X(0) : 1 / x)
  TMA_JIT_DUAL_ONE(__log2f, a.slope == 0 ? X(0) : 1 / (x * X(kLn2)))
  TMA_JIT_DUAL_ONE(__log10f, a.slope == 0 ? X(0) : 1 / (x * X(kLn10)))
  TMA_JIT_DUAL(sin, cos(x))
  TMA_JIT_DUAL(cos, -sin(x))
  TMA_JIT_DUAL_ONE(__sinf, __cosf(x))
  TMA_JIT_DUAL_ONE(__cosf, -__sinf(x))
  TMA_JIT_DUAL(tan, 1 + y * y)
  TMA_JIT_DUAL_STEEP(asin, rsqrt(1 - x * x))
  TMA_JIT_DUAL_STEEP(acos, -rsqrt(1 - x * x))
  TMA_JIT_DUAL(atan, 1 / (1 + x * x))
  TMA_JIT_DUAL(sinh, cosh(x))
  TMA_JIT_DUAL(cosh, sinh(x))
  TMA_JIT_DUAL(tanh, 1 - y * y)
  TMA_JIT_DUAL(asinh, rsqrt(1 + x * x))
  TMA_JIT_DUAL_STEEP(acosh, rsqrt(x* x - 1))
  TMA_JIT_DUAL_STEEP(atanh, 1 / (1 - x * x))
  TMA_JIT_DUAL(erf, X(1.1283791670955126) * exp(-x * x))
  TMA_JIT_DUAL(erfc, X(-1.1283791670955126) * exp(-x * x))
  TMA_JIT_DUAL(normcdf, normal(x))
  TMA_JIT_DUAL_ONE(sigmoid, y*(1 - y))
  TMA_JIT_DUAL_ONE(silu, sigmoid(x) * (1 + x - y))
  TMA_JIT_DUAL_ONE(gelu, normcdf(x) + x * normal(x))
  TMA_JIT_DUAL_ONE(gelu_tanh, gelu_tanh_slope(x))
#undef TMA_JIT_DUAL_STEEP
#undef TMA_JIT_DUAL
#undef TMA_JIT_DUAL_ONE

// The same for a function of a and b, whose derivative is that of the expression SLOPE of a, b and the result y.
#define TMA_JIT_DUAL_TWO(NAME, SLOPE)                                    \
  friend __device__ Dual NAME(Dual a, Dual b) {                          \
    [[maybe_unused]] const X y = static_cast<X>(NAME(a.value, b.value)); \
    return {y, SLOPE};                                                   \
  }
#define TMA_JIT_DUAL(NAME, SLOPE) TMA_JIT_DUAL_TWO(NAME, SLOPE) TMA_JIT_DUAL_TWO(NAME##f, SLOPE)
  TMA_JIT_DUAL_TWO(max, (a.value >= b.value ? a : b).slope)
  TMA_JIT_DUAL_TWO(min, (a.value <= b.value ? a : b).slope)
  TMA_JIT_DUAL(fmax, (a.value >= b.value ? a : b).slope)
  TMA_JIT_DUAL(fmin, (a.value <= b.value ? a : b).slope)
  TMA_JIT_DUAL(fdim, a.value > b.value ? a.slope - b.slope : X(0))
  TMA_JIT_DUAL(fmod, a.slope - trunc(a.value / b.value) * b.slope)
  TMA_JIT_DUAL(remainder, a.slope - rint(a.value / b.value) * b.slope)
  TMA_JIT_DUAL(copysign, (a.value < 0) == (y < 0) ? a.slope : -a.slope)
  TMA_JIT_DUAL(hypot, (a.value * a.slope + b.value * b.slope) / y)
  TMA_JIT_DUAL(atan2, (b.value * a.slope - a.value * b.slope) / (a.value * a.value + b.value * b.value))
  TMA_JIT_DUAL(pow, power_slope(a, b, y))
  TMA_JIT_DUAL_TWO(__powf, power_slope(a, b, y))
  TMA_JIT_DUAL_TWO(__fdividef, quotient(y, a, b).slope)
  TMA_JIT_DUAL_TWO(softcap, softcap_slope(a, b, y))
  TMA_JIT_DUAL_TWO(softcap_approx, softcap_slope(a, b, y))
#undef TMA_JIT_DUAL
#undef TMA_JIT_DUAL_TWO

  friend __device__ Dual fma(Dual a, Dual b, Dual c) {
    return {fma(a.value, b.value, c.value), fma(a.slope, b.value, fma(a.value, b.slope, c.slope))};
  }
  friend __device__ Dual fmaf(Dual a, Dual b, Dual c) {
    return fma(a, b, c);
  }
  friend __device__ Dual ldexp(Dual a, int e) {
    return {ldexp(a.value, e), ldexp(a.slope, e)};
  }
  friend __device__ Dual ldexpf(Dual a, int e) {
    return ldexp(a, e);
  }

 private:
  static constexpr f64 kLn2 = 0.6931471805599453, kLn10 = 2.302585092994046;

  __device__ static constexpr Dual quotient(X y, Dual a, Dual b) {
    return {y, (a.slope - y * b.slope) / b.value};
  }
  __device__ static X normal(X x) {
    return X(0.3989422804014327) * exp(X(-0.5) * x * x);
  }
  __device__ static X gelu_tanh_slope(X x) {
    const X weight = sigmoid(X(1.5957691216057308) * x * (1 + X(0.044715) * x * x));
    return weight + x * weight * (1 - weight) * X(1.5957691216057308) * (1 + X(3 * 0.044715) * x * x);
  }
  // The quotient of s and cap is only needed where cap has a slope.
  __device__ static X softcap_slope(Dual s, Dual cap, X y) {
    const X tangent = y * (1 / cap.value), steepness = 1 - tangent * tangent;
    const X slope = s.slope == 0 ? X(0) : steepness * s.slope;
    return cap.slope == 0 ? slope : slope + (tangent - steepness * (s.value / cap.value)) * cap.slope;
  }
  // The logarithm of the base is only needed where the exponent has a slope.
  __device__ static X power_slope(Dual a, Dual b, X y) {
    const X slope = a.slope == 0 ? X(0) : b.value * static_cast<X>(pow(a.value, b.value - 1)) * a.slope;
    return b.slope == 0 ? slope : slope + y * static_cast<X>(log(a.value)) * b.slope;
  }
};

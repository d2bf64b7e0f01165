#pragma once
// Activation functions for hooks, which include this file if their text has one of these names. In f32 the sigmoid and
// those made of it are within 2^-20 of their values, by two operations of the unit for special functions an element:
// `1 / (1 + expf(-x))` has a branch for each. In f64, for references, they are computed by CUDA's functions.
#include "device/ptx/ex2.cuh"
#include "device/ptx/rcp.cuh"
#include "device/ptx/tanh.cuh"

__device__ inline f32 sigmoid(f32 x) {
  return rcp(1 + ex2(x * -kLog2e));
}
__device__ inline f64 sigmoid(f64 x) {
  return 1 / (1 + exp(-x));
}

template <class F> __device__ inline F silu(F x) {
  return x * sigmoid(x);
}

// x times the normal distribution's integral up to x.
__device__ inline f32 gelu(f32 x) {
  return x * fmaf(erff(x * 0.70710678F), 0.5F, 0.5F);
}
__device__ inline f64 gelu(f64 x) {
  return x * normcdf(x);
}

// The approximation of gelu by a hyperbolic tangent: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
__device__ inline f32 gelu_tanh(f32 x) {
  constexpr f32 kLinear = -1.5957691216057308 * 1.4426950408889634, kCubic = 0.044715 * kLinear;
  return x * rcp(1 + ex2(x * fmaf(x * x, kCubic, kLinear)));
}
__device__ inline f64 gelu_tanh(f64 x) {
  return x * sigmoid(1.5957691216057308 * x * (1 + 0.044715 * x * x));
}

// amplitude * tanh(rate * x), in f32 within 2^-21 of |amplitude|, by two operations of the unit and without a branch.
__device__ inline f32 tanh_product(f32 x, f32 rate, f32 amplitude) {
  return fmaf(-2 * amplitude, rcp(1 + ex2(x * (2 * kLog2e * rate))), amplitude);
}

// cap * tanh(s / cap), which is between -cap and cap. What depends on cap alone is computed once for all s that have
// the same. Infinities give |cap| with their sign, and what is not a number stays so.
template <class Cap, class = decltype(f32(Cap{}))> __device__ inline f32 softcap(f32 s, Cap cap) {
  const f32 limit = cap;
  return tanh_product(s, rcp(limit), limit);
}
template <class Cap, class = decltype(f64(Cap{}))> __device__ inline f64 softcap(f64 s, Cap cap) {
  return cap * tanh(s / cap);
}

// The same by one operation of the unit, for results of 8 bits of fraction and fewer: in f32 within 2^-11 of the value.
template <class Cap, class = decltype(f32(Cap{}))> __device__ inline f32 softcap_approx(f32 s, Cap cap) {
  const f32 limit = cap;
  return limit * tanh_approx(s * rcp(limit));
}
template <class Cap, class = decltype(f64(Cap{}))> __device__ inline f64 softcap_approx(f64 s, Cap cap) {
  return softcap(s, cap);
}

#pragma once
// CUDA's functions of several arguments for arguments of both f32 and f64. A hook computes in f64 in a reference, so
// that a text of f32 such as `fmax(x, 0.5f)` has both there, and CUDA declares these functions for arguments of one
// type. Included before the hooks of a reference.
#include "device/types.cuh"

namespace mixed_types {
template <class X> constexpr bool is_f32 = false;
template <> constexpr bool is_f32<f32> = true;
template <class X> constexpr bool is_f64 = false;
template <> constexpr bool is_f64<f64> = true;

template <bool> struct Wide {};
template <> struct Wide<true> { using type = f64; };
// Whether all of these are f32 or f64, and neither all are f32 nor all f64.
template <class... X>
constexpr bool is_mixed = ((is_f32<X> || is_f64<X>)&&...) && (is_f32<X> || ...) && (is_f64<X> || ...);
template <class... X> using Result = typename Wide<is_mixed<X...>>::type;
}  // namespace mixed_types

#define TMA_JIT_MIXED(NAME)                                                                \
  template <class A, class B> __device__ inline mixed_types::Result<A, B> NAME(A a, B b) { \
    return NAME(static_cast<f64>(a), static_cast<f64>(b));                                 \
  }
TMA_JIT_MIXED(atan2)
TMA_JIT_MIXED(copysign)
TMA_JIT_MIXED(fdim)
TMA_JIT_MIXED(fmax)
TMA_JIT_MIXED(fmin)
TMA_JIT_MIXED(fmod)
TMA_JIT_MIXED(hypot)
TMA_JIT_MIXED(pow)
TMA_JIT_MIXED(remainder)
#undef TMA_JIT_MIXED

template <class A, class B, class C> __device__ inline mixed_types::Result<A, B, C> fma(A a, B b, C c) {
  return fma(static_cast<f64>(a), static_cast<f64>(b), static_cast<f64>(c));
}

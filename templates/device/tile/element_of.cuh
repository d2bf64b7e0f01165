#pragma once
// Numbers as elements of any type.
#include "device/ptx/cvt.cuh"
#include "device/tile/pack.cuh"

// The element with the value y: floating-point numbers of 8 and 16 bits are rounded from f32.
template <class T, class Number> __device__ inline T element_of(Number y) {
  if constexpr (__is_class(T))
    return from_f32<T>(static_cast<f32>(y));
  else
    return static_cast<T>(y);
}

template <class A, class B> struct AreSame { static constexpr bool value = false; };
template <class A> struct AreSame<A, A> { static constexpr bool value = true; };

// An element of type T as one of type To; floating-point numbers become integers by rounding towards 0.
template <class To, class T> __device__ inline To cast(T x) {
  if constexpr (AreSame<To, T>::value)
    return x;
  else if constexpr (__is_class(T))
    return element_of<To>(to_f32(x));
  else
    return element_of<To>(x);
}
template <class To, class T, int Count> __device__ inline Pack<To, Count> cast(const Pack<T, Count>& pack) {
  Pack<To, Count> out;
#pragma unroll
  for (int i = 0; i < Count; ++i) out.x[i] = cast<To>(pack.x[i]);
  return out;
}

// What an element of type To is to hold for one of type T, as a reference gives it: a floating-point number before it
// is rounded.
template <class To, class T> __device__ inline f64 exact_cast(T x) {
  if constexpr (!__is_class(To))
    if constexpr (static_cast<To>(0.5F) == 0) return to_f64(cast<To>(x));
  return to_f64(x);
}

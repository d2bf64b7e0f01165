#pragma once
// Numbers as elements of any type.
#include "device/ptx/cvt.cuh"

// The element with the value y: floating-point numbers of 8 and 16 bits are rounded from f32.
template <class T, class Number> __device__ inline T element_of(Number y) {
  if constexpr (__is_class(T))
    return from_f32<T>(static_cast<f32>(y));
  else
    return static_cast<T>(y);
}

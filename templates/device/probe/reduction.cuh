#pragma once
// Shared by the probes of reductions: the element types by number, and each reduction as plain arithmetic.
#include "device/ptx/cvt.cuh"
#include "device/ptx/reduction.cuh"

namespace probe {

template <int Number> struct Element;
template <> struct Element<0> { using Type = u32; };
template <> struct Element<1> { using Type = s32; };
template <> struct Element<2> { using Type = u64; };
template <> struct Element<3> { using Type = s64; };
template <> struct Element<4> { using Type = f32; };
template <> struct Element<5> { using Type = f64; };
template <> struct Element<6> { using Type = f16; };
template <> struct Element<7> { using Type = bf16; };

// Small integers are exact in every type; negative numbers wrap around in the unsigned types.
template <class E> __device__ inline E from_s32(s32 x) {
  if constexpr (sizeof(E) == 2)
    return from_f32<E>(static_cast<f32>(x));
  else
    return static_cast<E>(static_cast<s64>(x));
}
template <class E> __device__ inline s32 to_s32(E x) {
  if constexpr (sizeof(E) == 2)
    return static_cast<s32>(to_f32(x));
  else
    return static_cast<s32>(x);
}

template <Reduction R, class E> __device__ inline E applied(E x, E s) {
  if constexpr (sizeof(E) == 2) {
    return from_s32<E>(applied<R>(to_s32(x), to_s32(s)));
  } else if constexpr (R == Reduction::add) {
    return x + s;
  } else if constexpr (R == Reduction::min) {
    return s < x ? s : x;
  } else if constexpr (R == Reduction::max) {
    return s > x ? s : x;
  } else if constexpr (R == Reduction::inc) {
    return x >= s ? 0 : x + 1;
  } else if constexpr (R == Reduction::dec) {
    return x == 0 || x > s ? s : x - 1;
  } else if constexpr (R == Reduction::bit_and) {
    return x & s;
  } else if constexpr (R == Reduction::bit_or) {
    return x | s;
  } else {
    return x ^ s;
  }
}

}  // namespace probe

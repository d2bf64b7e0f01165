#pragma once
// Parts of PTX as constants for the "C" operands of inline assembly: numbers, and PTX's names of element types. They
// let one asm statement serve every shape and type that takes the same registers. CUDA 13.0, "Inline PTX Assembly in
// CUDA": the "C" constraint takes a zero-terminated array of const char.
#include "device/types.cuh"

struct tf32 {
  u32 bits;  // an f32 whose low 13 bits are ignored
};

namespace ptx {

template <char... Letters> struct Text {
  static constexpr char text[] = {Letters..., 0};
};

// The decimal digits of a positive number.
template <int Value, char... Digits>
struct Number : Number<Value / 10, static_cast<char>('0' + Value % 10), Digits...> {};
template <char... Digits> struct Number<0, Digits...> : Text<Digits...> {};

template <class T> struct Name;
template <> struct Name<bf16> : Text<'b', 'f', '1', '6'> {};
template <> struct Name<f16> : Text<'f', '1', '6'> {};
template <> struct Name<tf32> : Text<'t', 'f', '3', '2'> {};
template <> struct Name<f32> : Text<'f', '3', '2'> {};
template <> struct Name<f64> : Text<'f', '6', '4'> {};
template <> struct Name<e4m3> : Text<'e', '4', 'm', '3'> {};
template <> struct Name<e5m2> : Text<'e', '5', 'm', '2'> {};
template <> struct Name<s8> : Text<'s', '8'> {};
template <> struct Name<u8> : Text<'u', '8'> {};
template <> struct Name<s32> : Text<'s', '3', '2'> {};

template <class A, class B> constexpr bool kSame = false;
template <class A> constexpr bool kSame<A, A> = true;
template <class T, class... Choices> constexpr bool kOneOf = (kSame<T, Choices> || ...);

}  // namespace ptx

#pragma once
// Conversions between storage types and the type used for arithmetic (f32, or f64 in a reference).
#include "device/types.cuh"

__device__ inline f32 to_f32(f32 x) {
  return x;
}
__device__ inline f32 to_f32(bf16 x) {
  return __uint_as_float(u32{x.bits} << 16);
}
__device__ inline f32 to_f32(f16 x) {
  f32 r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return r;
}
__device__ inline f32 to_f32(e5m2 x) {
  return to_f32(f16{static_cast<u16>(x.bits << 8)});  // an f16 with 2 bits of mantissa
}
__device__ inline f32 to_f32(e4m3 x) {
  if ((x.bits & 0x7f) == 0x7f) return __uint_as_float(0x7fffffff);  // NaN; there is no infinity
  const u32 half = (x.bits & 0x80) << 8 | (x.bits & 0x7f) << 7;     // as an f16, except for the exponent's bias of 7
  return to_f32(f16{static_cast<u16>(half)}) * 256;
}
template <class T> __device__ inline f32 to_f32(T x) {
  return static_cast<f32>(x);
}

// Exact for every type.
__device__ inline f64 to_f64(bf16 x) {
  return to_f32(x);
}
__device__ inline f64 to_f64(f16 x) {
  return to_f32(x);
}
__device__ inline f64 to_f64(e4m3 x) {
  return to_f32(x);
}
__device__ inline f64 to_f64(e5m2 x) {
  return to_f32(x);
}
template <class T> __device__ inline f64 to_f64(T x) {
  return static_cast<f64>(x);
}

// Rounds to nearest even.
template <class T> __device__ inline T from_f32(f32 x) {
  return static_cast<T>(x);
}
template <> __device__ inline bf16 from_f32<bf16>(f32 x) {
  bf16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}
template <> __device__ inline f16 from_f32<f16>(f32 x) {
  f16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}

// Converts an f32 to an 8-bit float; larger magnitudes become the largest number, as with cvt.satfinite. Largest is the
// code of the largest number, Bias the exponent's bias, Mantissa the bits of the fraction. Replaces the instruction
// below sm_89.
template <int Mantissa, int Bias, u32 Largest> __device__ inline u8 to_f8(f32 x) {
  const u32 bits = __float_as_uint(x), sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
  if (size > 0x7f800000) return 0x7f;  // NaN, without its sign
  constexpr int kCut = 23 - Mantissa;
  // Below the smallest normal number the code is the number of steps of the smallest subnormal one; the largest such
  // number is the code of the smallest normal one.
  constexpr f32 kSteps = static_cast<f32>(1 << (Bias - 1 + Mantissa));
  const u32 code = size < u32{128 - Bias} << 23
                       ? __float2uint_rn(__uint_as_float(size) * kSteps)
                       : ((size + (1u << (kCut - 1)) - 1 + (size >> kCut & 1)) >> kCut) - (u32{127 - Bias} << Mantissa);
  return static_cast<u8>(sign | min(code, Largest));
}
template <> __device__ inline e4m3 from_f32<e4m3>(f32 x) {
#if __CUDA_ARCH__ >= 890
  u16 pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0F), "f"(x));
  return {static_cast<u8>(pair)};
#else
  return {to_f8<3, 7, 0x7e>(x)};
#endif
}
template <> __device__ inline e5m2 from_f32<e5m2>(f32 x) {
#if __CUDA_ARCH__ >= 890
  u16 pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0F), "f"(x));
  return {static_cast<u8>(pair)};
#else
  return {to_f8<2, 15, 0x7b>(x)};
#endif
}

// Packs two floats as a pair of a 16-bit T, `lo` in the lower half.
template <class T> __device__ inline u32 pack(f32 lo, f32 hi);
template <> __device__ inline u32 pack<bf16>(f32 lo, f32 hi) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
template <> __device__ inline u32 pack<f16>(f32 lo, f32 hi) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
// The same for two 8-bit values, in the order of their addresses.
template <> __device__ inline u32 pack<e4m3>(f32 lo, f32 hi) {
#if __CUDA_ARCH__ >= 890
  u16 r;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(hi), "f"(lo));
  return r;
#else
  return u32{from_f32<e4m3>(lo).bits} | u32{from_f32<e4m3>(hi).bits} << 8;
#endif
}
template <> __device__ inline u32 pack<e5m2>(f32 lo, f32 hi) {
#if __CUDA_ARCH__ >= 890
  u16 r;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(hi), "f"(lo));
  return r;
#else
  return u32{from_f32<e5m2>(lo).bits} | u32{from_f32<e5m2>(hi).bits} << 8;
#endif
}
// s8 rounds to nearest even, and what is beyond -128 or 127 becomes that.
template <> __device__ inline u32 pack<s8>(f32 lo, f32 hi) {
  s32 a, b;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(a) : "f"(lo));
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(b) : "f"(hi));
  return (a & 0xff) | (b & 0xff) << 8;
}

// Returns a result, an f32 or an s32, as it is stored: 8-bit types saturate.
template <class O, class X> __device__ inline O rounded(X x) {
  if constexpr (sizeof(O) == 1) {
    const u8 bits = static_cast<u8>(pack<O>(x, 0));
    return reinterpret_cast<const O&>(bits);
  } else if constexpr (sizeof(O) == 2) {
    return from_f32<O>(x);
  } else {
    return x;
  }
}

// Converts two e4m3, in the low half of `bytes`, to a pair of a 16-bit T, in the same order. Exact for both types.
template <class T> __device__ inline u32 widen(u32 bytes);
template <> __device__ inline u32 widen<f16>(u32 bytes) {
  u32 r;
#if __CUDA_ARCH__ >= 890
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(static_cast<u16>(bytes)));
#else
  // An e4m3 is an f16 with a bias less by 8, but for NaN.
  const u32 high = (bytes & 0xff) << 8 | (bytes & 0xff00) << 16, magnitude = high & 0x7f007f00;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"((high & 0x80008000) | magnitude >> 1), "r"(0x5c005c00));
  if ((magnitude & 0x7f00) == 0x7f00) r |= 0x7fff;
  if (magnitude >> 16 == 0x7f00) r |= 0x7fff0000;
#endif
  return r;
}
template <> __device__ inline u32 widen<bf16>(u32 bytes) {
  const u32 pair = widen<f16>(bytes);
  return pack<bf16>(to_f32(f16{static_cast<u16>(pair)}), to_f32(f16{static_cast<u16>(pair >> 16)}));
}
// The same for four, to two pairs of f16, by an instruction each where there is one.
__device__ inline uint2 widen_four(u32 bytes) {
#if __CUDA_ARCH__ >= 890
  uint2 r;
  asm("{\n.reg .b16 lo, hi;\nmov.b32 {lo, hi}, %2;\ncvt.rn.f16x2.e4m3x2 %0, lo;\ncvt.rn.f16x2.e4m3x2 %1, hi;\n}"
      : "=r"(r.x), "=r"(r.y)
      : "r"(bytes));
  return r;
#else
  return make_uint2(widen<f16>(bytes), widen<f16>(bytes >> 16));
#endif
}

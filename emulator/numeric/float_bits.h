// Conversions between 16-bit floats and f32 in integer arithmetic, so that loops vectorise and rounding does not depend
// on the host's mode. All round to nearest, ties to even. NaN becomes the canonical NaN of the target type (PTX ISA
// 9.0, "Operations on NaN": 0x7fff).
#pragma once

#include <bit>

#include "emulator/word.h"

namespace tma_jit::emulator::numeric {

[[gnu::always_inline]] inline float bf16_to_f32(u16 half) {
  return std::bit_cast<float>(static_cast<u32>(half) << 16);
}

[[gnu::always_inline]] inline u16 f32_to_bf16(float value) {
  const u32 bits = std::bit_cast<u32>(value);
  const u32 rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<u16>((bits & 0x7fffffffU) > 0x7f800000U ? 0x7fffU : rounded);
}

[[gnu::always_inline]] inline float f16_to_f32(u16 half) {
  const u32 sign = (static_cast<u32>(half) & 0x8000U) << 16;
  const u32 magnitude = static_cast<u32>(half) & 0x7fffU;
  // Scaling by 2^112 turns the exponent's bias from 15 to 127 and normalises subnormals.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const u32 special = 0x7f800000U | (magnitude << 13);
  const u32 bits = magnitude >= 0x7c00U ? special : std::bit_cast<u32>(scaled);
  return std::bit_cast<float>(sign | bits);
}

[[gnu::always_inline]] inline u16 f32_to_f16(float value) {
  const u32 bits = std::bit_cast<u32>(value);
  const u32 sign = (bits >> 16) & 0x8000U;
  const u32 magnitude = bits & 0x7fffffffU;
  // Below 2^-14 the result is subnormal: adding 0.5 leaves it, rounded, in the low bits.
  const u32 small = std::bit_cast<u32>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  const u32 normal = (magnitude + 0xfffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
  u32 result = magnitude < 0x38800000U ? small : normal;
  if (magnitude >= 0x477ff000U) result = 0x7c00U;
  if (magnitude > 0x7f800000U) return 0x7fffU;
  return static_cast<u16>(sign | result);
}

[[gnu::always_inline]] inline float flushed(float value) {
  const u32 bits = std::bit_cast<u32>(value);
  return std::bit_cast<float>((bits & 0x7f800000U) == 0 ? bits & 0x80000000U : bits);
}

// Returns a * b + c in f64 rounded to odd, so that rounding again to at most 24 bits equals a single rounding. The
// product is exact, because its factors have at most 24 bits.
[[gnu::always_inline]] inline double fused_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  const u64 bits = std::bit_cast<u64>(sum);
  if (error == 0 || (bits & 1U) != 0 || error != error) return sum;
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

}  // namespace tma_jit::emulator::numeric

#include "emulator/numeric/convert.h"

#include <bit>
#include <cmath>

namespace tma_jit::emulator::numeric {
namespace {

// A decoded number: (-1)^negative * magnitude * 2^exponent, or a special value.
struct Parts {
  enum class Kind : u8 { finite, infinite, nan };
  Kind kind = Kind::finite;
  bool negative = false;
  u64 magnitude = 0;
  int exponent = 0;
};

u64 low_bits(int count) {
  return count >= 64 ? ~u64{0} : (u64{1} << (count & 63)) - 1;
}

Parts integer_parts(Format format, u64 bits) {
  const int width = bits_of(format);
  bits &= low_bits(width);
  const bool negative = is_signed(format) && ((bits >> (width - 1)) & 1) != 0;
  return {Parts::Kind::finite, negative, negative ? (~bits + 1) & low_bits(width) : bits, 0};
}

Parts float_parts(Format format, u64 bits) {
  const FloatLayout layout = layout_of(format);
  if (format == Format::tf32) bits = (bits & 0xffffffff) >> 13;
  const int width = layout.exponent_bits + layout.mantissa_bits;
  const u64 pattern = bits & low_bits(width);
  Parts parts;
  parts.negative = layout.has_sign && ((bits >> width) & 1) != 0;
  const u64 exponent = pattern >> layout.mantissa_bits;
  const u64 mantissa = pattern & low_bits(layout.mantissa_bits);
  if (layout.specials == Specials::one_nan && pattern == low_bits(width)) parts.kind = Parts::Kind::nan;
  if (layout.specials == Specials::ieee && exponent == low_bits(layout.exponent_bits)) {
    parts.kind = mantissa != 0 ? Parts::Kind::nan : Parts::Kind::infinite;
    return parts;
  }
  // ue8m0 has no mantissa, and its exponent 0 is 2^-127, not zero.
  const bool normal = exponent != 0 || format == Format::ue8m0;
  parts.magnitude = mantissa | (normal ? u64{1} << layout.mantissa_bits : 0);
  const int stored = exponent == 0 && format != Format::ue8m0 ? 1 : static_cast<int>(exponent);
  parts.exponent = stored - layout.bias - layout.mantissa_bits;
  return parts;
}

Parts parts_of(Format format, u64 bits) {
  return is_float(format) ? float_parts(format, bits) : integer_parts(format, bits);
}

// Rounds magnitude / 2^shift to an integer. A shift of 0 or less multiplies; the caller ensures that the result fits.
u64 rounded(const Parts& parts, int shift, Rounding rounding) {
  if (shift <= 0) return parts.magnitude << -shift;
  const u64 kept = shift >= 64 ? 0 : parts.magnitude >> shift;
  const u64 cut = shift >= 64 ? parts.magnitude : parts.magnitude & low_bits(shift);
  if (cut == 0) return kept;
  // Half a unit in the last place. A magnitude is below half a unit if the shift exceeds 64.
  const u64 half = shift > 64 ? 0 : u64{1} << (shift - 1);
  switch (rounding) {
    case Rounding::zero: return kept;
    case Rounding::down: return kept + (parts.negative ? 1 : 0);
    case Rounding::up: return kept + (parts.negative ? 0 : 1);
    case Rounding::nearest_away: return kept + (half != 0 && cut >= half ? 1 : 0);
    case Rounding::nearest_even:
      if (half == 0 || cut < half) return kept;
      return kept + (cut > half || (kept & 1) != 0 ? 1 : 0);
  }
  return kept;
}

u64 with_sign(Format format, bool negative, u64 pattern) {
  const FloatLayout layout = layout_of(format);
  const int sign = format == Format::tf32 ? 31 : layout.exponent_bits + layout.mantissa_bits;
  return pattern | (negative && layout.has_sign ? u64{1} << sign : 0);
}

u64 overflowed(const Conversion& conversion, const Parts& parts) {
  const Format to = conversion.to;
  const FloatLayout layout = layout_of(to);
  if (conversion.finite || layout.specials == Specials::none) return with_sign(to, parts.negative, largest_finite(to));
  const bool towards_zero = conversion.rounding == Rounding::zero ||
                            (conversion.rounding == Rounding::down && !parts.negative) ||
                            (conversion.rounding == Rounding::up && parts.negative);
  if (parts.kind == Parts::Kind::finite && towards_zero && to != Format::ue8m0)
    return with_sign(to, parts.negative, largest_finite(to));
  if (layout.specials == Specials::one_nan) return with_sign(to, parts.negative, canonical_nan(to));
  return with_sign(to, parts.negative, largest_finite(to) + (to == Format::tf32 ? u64{1} << 13 : 1));
}

// Converts to ue8m0, the exponent alone. Signs are dropped; anything up to 2^-127 becomes pattern 0 (as cuda_fp8.hpp of
// the CUDA Toolkit computes on the host; rounding up considers the magnitude).
u64 to_scale(const Conversion& conversion, Parts parts) {
  parts.negative = false;
  if (parts.magnitude == 0) return 0;
  const int top = 63 - std::countl_zero(parts.magnitude);
  int power = parts.exponent + top;
  const u64 fraction = parts.magnitude & low_bits(top);
  Parts mantissa{Parts::Kind::finite, false, fraction, 0};
  if (top > 0 && rounded(mantissa, top, conversion.rounding) != 0) ++power;
  if (power < -127) return 0;
  return power > 127 ? overflowed(conversion, parts) : static_cast<u64>(power + 127);
}

u64 to_float(const Conversion& conversion, const Parts& parts) {
  const Format to = conversion.to;
  if (parts.kind == Parts::Kind::nan) return canonical_nan(to);
  if (parts.kind == Parts::Kind::infinite) return overflowed(conversion, parts);
  if (to == Format::ue8m0) return to_scale(conversion, parts);
  if (parts.magnitude == 0) return with_sign(to, parts.negative, 0);
  const FloatLayout layout = layout_of(to);
  const int top = parts.exponent + 63 - std::countl_zero(parts.magnitude);
  int power = top < 1 - layout.bias ? 1 - layout.bias : top;  // subnormals share the least exponent
  u64 mantissa = rounded(parts, power - layout.mantissa_bits - parts.exponent, conversion.rounding);
  if (mantissa >> (layout.mantissa_bits + 1) != 0) {
    mantissa >>= 1;
    ++power;
  }
  const bool normal = mantissa >> layout.mantissa_bits != 0;
  const u64 exponent = normal ? static_cast<u64>(power + layout.bias) : 0;
  u64 pattern = (exponent << layout.mantissa_bits) | (mantissa & low_bits(layout.mantissa_bits));
  if (to == Format::tf32) pattern <<= 13;
  if (pattern > largest_finite(to) || exponent > low_bits(layout.exponent_bits)) return overflowed(conversion, parts);
  return with_sign(to, parts.negative, pattern);
}

u64 to_integer(const Conversion& conversion, const Parts& parts) {
  const int width = bits_of(conversion.to);
  const bool has_sign = is_signed(conversion.to);
  if (parts.kind == Parts::Kind::nan) return conversion.from == Format::f64 || width == 64 ? u64{1} << (width - 1) : 0;
  const u64 highest = low_bits(has_sign ? width - 1 : width);
  const u64 lowest = has_sign ? highest + 1 : 0;  // the magnitude of the lowest value
  const u64 limit = parts.negative ? lowest : highest;
  const bool huge = parts.kind == Parts::Kind::infinite ||
                    (parts.magnitude != 0 && parts.exponent + 64 - std::countl_zero(parts.magnitude) > 64);
  u64 magnitude = huge ? ~u64{0} : rounded(parts, -parts.exponent, conversion.rounding);
  const bool clamps = is_float(conversion.from) || conversion.saturate;
  if (clamps && magnitude > limit) magnitude = limit;
  return (parts.negative ? ~magnitude + 1 : magnitude) & low_bits(width);
}

// Rounds to the nearest integral value.
Parts integral(const Parts& parts, Rounding rounding) {
  if (parts.kind != Parts::Kind::finite || parts.exponent >= 0) return parts;
  return {Parts::Kind::finite, parts.negative, rounded(parts, -parts.exponent, rounding), 0};
}

bool is_subnormal_f32(u64 bits) {
  return (bits & 0x7f800000) == 0;
}

u64 saturated_unit(const Conversion& conversion, const Parts& parts, u64 result) {
  if (parts.kind == Parts::Kind::nan) return 0;
  if (parts.negative) return 0;
  const u64 one = nearest(conversion.to, 1.0);
  return result > one ? one : result;  // patterns of positive numbers are ordered as the numbers
}

u64 finished_float(const Conversion& conversion, const Parts& parts, u64 result) {
  if (conversion.saturate) result = saturated_unit(conversion, parts, result);
  if (conversion.relu && parts.negative && parts.kind != Parts::Kind::nan) result = 0;
  if (conversion.flush && conversion.to == Format::f32 && is_subnormal_f32(result)) result &= 0x80000000;
  return result;
}

}  // namespace

u64 convert(const Conversion& conversion, u64 bits) {
  if (conversion.flush && conversion.from == Format::f32 && is_subnormal_f32(bits)) bits &= 0x80000000;
  Parts parts = parts_of(conversion.from, bits);
  if (!is_float(conversion.to)) return to_integer(conversion, parts);
  if (conversion.integral) parts = integral(parts, conversion.rounding);
  return finished_float(conversion, parts, to_float(conversion, parts));
}

double value_of(Format format, u64 bits) {
  const Parts parts = parts_of(format, bits);
  if (parts.kind == Parts::Kind::nan) return std::nan("");
  const double magnitude =
      parts.kind == Parts::Kind::infinite ? INFINITY : std::ldexp(static_cast<double>(parts.magnitude), parts.exponent);
  return parts.negative ? -magnitude : magnitude;
}

u64 nearest(Format format, double value) {
  return convert({.from = Format::f64, .to = format}, std::bit_cast<u64>(value));
}

}  // namespace tma_jit::emulator::numeric

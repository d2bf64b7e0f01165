#include "emulator/exec/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "emulator/exec/handlers.h"
#include "emulator/exec/warp.h"

namespace tma_jit::emulator {
namespace {

using ptx::Type;

long double rounded(long double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: return std::nearbyint(value);  // the host rounds to nearest
    case Rounding::zero: return std::trunc(value);
    case Rounding::down: return std::floor(value);
    case Rounding::up: return std::ceil(value);
    case Rounding::nearest_away: return std::round(value);
  }
  return value;
}

u64 bits_mask(u32 bits) {
  return bits >= 64 ? ~u64{0} : (u64{1} << bits) - 1;
}

u64 exponent_mask(const FloatFormat& format) {
  return bits_mask(format.bits - 1U - format.mantissa);
}

// The largest finite magnitude's pattern.
u64 largest(const FloatFormat& format) {
  const u64 all = bits_mask(format.bits - 1U);
  if (format.infinity) return (exponent_mask(format) << format.mantissa) - 1;
  return format.nan ? all - 1 : all;
}

u64 canonical_nan(const FloatFormat& format) {
  if (!format.nan) return largest(format);
  return bits_mask(format.bits - 1U);
}

u64 sign_extended(u64 bits, Type type) {
  const u32 width = static_cast<u32>(ptx::bits_of(type));
  if (width == 64) return bits;
  bits &= bits_mask(width);
  const bool negative = ptx::is_signed(type) && (bits >> (width - 1) & 1U) != 0;
  return negative ? bits | ~bits_mask(width) : bits;
}

long double lowest_of(Type type) {
  return ptx::is_signed(type) ? -std::ldexp(1.0L, ptx::bits_of(type) - 1) : 0.0L;
}
long double highest_of(Type type) {
  return std::ldexp(1.0L, ptx::bits_of(type) - (ptx::is_signed(type) ? 1 : 0)) - 1;
}

bool is_subnormal_f32(u64 bits) {
  return (bits & 0x7f800000U) == 0;
}

}  // namespace

const FloatFormat* format_of(Type type) {
  switch (type) {
    case Type::f64: return &kF64;
    case Type::f32: return &kF32;
    case Type::tf32: return &kTf32;
    case Type::f16: return &kF16;
    case Type::bf16: return &kBf16;
    default: return nullptr;
  }
}

long double decode_float(u64 bits, const FloatFormat& format) {
  const bool negative = (bits >> (format.bits - 1U) & 1U) != 0;
  const u64 exponent = bits >> format.mantissa & exponent_mask(format);
  const u64 mantissa = bits & bits_mask(format.mantissa);
  long double value = 0;
  if (format.infinity && exponent == exponent_mask(format)) {
    value =
        mantissa == 0 ? std::numeric_limits<long double>::infinity() : std::numeric_limits<long double>::quiet_NaN();
  } else if (format.nan && !format.infinity && (bits & bits_mask(format.bits - 1U)) == bits_mask(format.bits - 1U)) {
    value = std::numeric_limits<long double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<long double>(mantissa), 1 - format.bias - format.mantissa);
  } else {
    value = std::ldexp(static_cast<long double>(mantissa | u64{1} << format.mantissa),
                       static_cast<int>(exponent) - format.bias - format.mantissa);
  }
  return negative ? -value : value;
}

u64 encode_float(long double value, const FloatFormat& format, Rounding rounding, bool finite) {
  if (std::isnan(value)) return canonical_nan(format);
  const u64 sign = std::signbit(value) ? u64{1} << (format.bits - 1U) : 0;
  if (value == 0) return sign;
  const long double top = decode_float(largest(format), format);
  long double result = value;
  if (!std::isinf(value)) {
    const int exponent = std::max(std::ilogb(value), 1 - format.bias);
    const int unit = exponent - format.mantissa;
    result = std::ldexp(rounded(std::ldexp(value, -unit), rounding), unit);
  }
  if (std::fabs(result) > top) {
    const bool inward =
        !std::isinf(value) && (rounding == Rounding::zero || (rounding == Rounding::down && sign == 0) ||
                               (rounding == Rounding::up && sign != 0));
    if (finite || inward) return sign | largest(format);
    return sign | (format.infinity ? exponent_mask(format) << format.mantissa : canonical_nan(format));
  }
  if (result == 0) return sign;
  const int exponent = std::ilogb(result);
  if (exponent < 1 - format.bias) {
    return sign | static_cast<u64>(std::ldexp(std::fabs(result), format.bias - 1 + format.mantissa));
  }
  const u64 mantissa = static_cast<u64>(std::ldexp(std::fabs(result), format.mantissa - exponent));
  return sign | static_cast<u64>(exponent + format.bias) << format.mantissa | (mantissa & bits_mask(format.mantissa));
}

u64 Conversion::from_float(long double value) const {
  if (const FloatFormat* format = format_of(to)) {
    if (integral) value = rounded(value, rounding);
    if (saturate) value = std::isnan(value) ? 0 : std::clamp(value, 0.0L, 1.0L);
    if (relu && !std::isnan(value)) value = std::max(value, 0.0L);
    if (to == Type::tf32) {
      constexpr FloatFormat kNarrow{19, 10, 127, true, true};
      return encode_float(value, kNarrow, rounding, finite) << 13;
    }
    u64 bits = encode_float(value, *format, rounding, finite);
    if (flush && to == Type::f32 && is_subnormal_f32(bits)) bits &= 0x80000000U;
    return bits;
  }
  if (std::isnan(value)) return ptx::bits_of(to) == 64 ? u64{1} << 63 : 0;
  value = std::clamp(rounded(value, rounding), lowest_of(to), highest_of(to));
  return value < 0 ? static_cast<u64>(static_cast<s64>(value)) : static_cast<u64>(value);
}

u64 Conversion::from_integer(u64 bits) const {
  const u64 value = sign_extended(bits, from);
  const bool negative = ptx::is_signed(from) && (value >> 63) != 0;
  const long double exact =
      negative ? static_cast<long double>(static_cast<s64>(value)) : static_cast<long double>(value);
  if (format_of(to) != nullptr) return from_float(exact);
  if (!saturate) return sign_extended(value, to);
  const long double clamped = std::clamp(exact, lowest_of(to), highest_of(to));
  return clamped < 0 ? static_cast<u64>(static_cast<s64>(clamped)) : static_cast<u64>(clamped);
}

u64 Conversion::convert(u64 bits) const {
  const FloatFormat* format = format_of(from);
  if (format == nullptr) return from_integer(bits);
  if (flush && from == Type::f32 && is_subnormal_f32(bits)) bits &= 0x80000000U;
  return from_float(decode_float(bits & bits_mask(format->bits), *format));
}

Step do_convert(Warp& warp, const Op& op, Mask active) {
  const auto& conversion = static_cast<const Conversion&>(*op.data);
  for (Mask rest = active; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    u64 value = conversion.convert(warp.lane(op.a, i));
    // cvt to a packed type takes the high half first.
    if (op.b) value = value << 16 | conversion.convert(warp.lane(op.b, i));
    warp.set_lane(op.d, i, value);
  }
  return Step::next;
}

}  // namespace tma_jit::emulator

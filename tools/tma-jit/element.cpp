#include "element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tma_jit::cli {
namespace {

// A small IEEE-like format. Without infinities the all-ones exponent also encodes numbers, and only the all-ones
// pattern is NaN (OCP 8-bit floating point specification, E4M3).
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool infinities;
  bool saturates;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
  std::uint64_t nan() const { return sign() - 1; }
  std::uint64_t largest() const { return (infinities ? infinity() : nan()) - 1; }
};

Format format_of(DType type) {
  switch (type) {
    case DType::f16: return {5, 10, true, false};
    case DType::bf16: return {8, 7, true, false};
    case DType::e4m3: return {4, 3, false, true};
    default: return {5, 2, true, true};  // e5m2
  }
}

double decode_small(const Format& format, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & format.nan();
  const double sign = (bits & format.sign()) != 0 ? -1.0 : 1.0;
  if (magnitude > (format.infinities ? format.infinity() : format.largest()))
    return std::numeric_limits<double>::quiet_NaN();
  if (format.infinities && magnitude == format.infinity()) return sign * std::numeric_limits<double>::infinity();
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const std::uint64_t significand = exponent == 0 ? fraction : fraction | (std::uint64_t{1} << format.mantissa_bits);
  const int scale = (exponent == 0 ? 1 : exponent) - format.bias() - format.mantissa_bits;
  return sign * std::ldexp(static_cast<double>(significand), scale);
}

std::uint64_t encode_small(const Format& format, double value) {
  if (std::isnan(value)) return format.nan();
  const std::uint64_t sign = std::signbit(value) ? format.sign() : 0;
  const std::uint64_t overflow = format.saturates ? format.largest() : format.infinity();
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | overflow;
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const double scaled = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const auto field = static_cast<std::uint64_t>(std::max(exponent + format.bias() - 1, 0));
  // A significand that rounds up to the next power of two carries into the exponent, which gives the right result.
  if (exponent > format.bias() + 1) return sign | overflow;
  const std::uint64_t bits = (field << format.mantissa_bits) + static_cast<std::uint64_t>(scaled);
  return sign | (bits > format.largest() ? overflow : bits);
}

template <class Integer> double decode_integer(std::uint64_t bits) {
  return static_cast<double>(static_cast<Integer>(bits));
}

template <class Integer> std::uint64_t encode_integer(double value) {
  using Limits = std::numeric_limits<Integer>;
  const double rounded = std::isnan(value) ? 0.0 : std::nearbyint(value);
  // The limits of 64-bit integers are not representable as doubles, so the comparison precedes the conversion.
  Integer integer{};
  if (rounded >= static_cast<double>(Limits::max())) {
    integer = Limits::max();
  } else if (rounded <= static_cast<double>(Limits::min())) {
    integer = Limits::min();
  } else {
    integer = static_cast<Integer>(rounded);
  }
  return static_cast<std::uint64_t>(integer);
}

}  // namespace

std::uint64_t load_bits(const std::byte* element, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size);  // every supported host is little-endian
  return bits;
}

void store_bits(std::byte* element, std::size_t size, std::uint64_t bits) {
  std::memcpy(element, &bits, size);
}

double decode(DType type, std::uint64_t bits) {
  switch (type) {
    case DType::u8: return decode_integer<std::uint8_t>(bits);
    case DType::s8: return decode_integer<std::int8_t>(bits);
    case DType::u16: return decode_integer<std::uint16_t>(bits);
    case DType::s16: return decode_integer<std::int16_t>(bits);
    case DType::u32: return decode_integer<std::uint32_t>(bits);
    case DType::s32: return decode_integer<std::int32_t>(bits);
    case DType::u64: return decode_integer<std::uint64_t>(bits);
    case DType::s64: return decode_integer<std::int64_t>(bits);
    case DType::f32: return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case DType::f64: return std::bit_cast<double>(bits);
    default: return decode_small(format_of(type), bits);
  }
}

std::uint64_t encode(DType type, double value) {
  switch (type) {
    case DType::u8: return encode_integer<std::uint8_t>(value);
    case DType::s8: return encode_integer<std::int8_t>(value);
    case DType::u16: return encode_integer<std::uint16_t>(value);
    case DType::s16: return encode_integer<std::int16_t>(value);
    case DType::u32: return encode_integer<std::uint32_t>(value);
    case DType::s32: return encode_integer<std::int32_t>(value);
    case DType::u64: return encode_integer<std::uint64_t>(value);
    case DType::s64: return encode_integer<std::int64_t>(value);
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::f64: return std::bit_cast<std::uint64_t>(value);
    default: return encode_small(format_of(type), value);
  }
}

Decoder::Decoder(DType type) : type_(type), size_(size_of(type)) {
  if (size_ > 2) return;
  table_.resize(std::size_t{1} << (8 * size_));
  for (std::size_t bits = 0; bits < table_.size(); ++bits) table_[bits] = decode(type, bits);
}

}  // namespace tma_jit::cli

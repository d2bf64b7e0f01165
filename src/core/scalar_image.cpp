#include "core/scalar_image.h"

#include <cmath>
#include <cstring>
#include <optional>

#include "core/failure.h"

namespace tma_jit {
namespace {

// A binary floating-point format. e4m3 is that of OCP FP8: it has no infinities, and its top exponent holds numbers up
// to 448.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool infinities;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  std::uint64_t infinity() const { return sign() - (std::uint64_t{1} << mantissa_bits); }
  std::uint64_t quiet_nan() const {
    return infinities ? infinity() | std::uint64_t{1} << (mantissa_bits - 1) : sign() - 1;
  }
  // Returns the first bit pattern above every finite number.
  std::uint64_t finite_end() const { return infinities ? infinity() : sign() - 1; }
};

std::optional<Format> format_of(DType type) {
  if (!is_floating_point(type)) return std::nullopt;
  const int mantissa = fraction_bits(type), exponent = static_cast<int>(size_of(type)) * 8 - 1 - mantissa;
  return Format{exponent, mantissa, type != DType::e4m3};
}

// Returns the bit pattern of a positive finite number, rounded; it may reach `finite_end`.
std::uint64_t magnitude(const Format& format, double value) {
  if (value == 0) return 0;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int least = 1 - format.bias();
  const int scale = std::max(exponent - 1, least);
  const auto mantissa = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(value, format.mantissa_bits - scale)));
  // A subnormal's mantissa lacks the implicit leading one, which makes up for the biased exponent being one too large.
  return (static_cast<std::uint64_t>(scale - least) << format.mantissa_bits) + mantissa;
}

std::optional<std::uint64_t> rounded(const Format& format, double value) {
  const std::uint64_t sign = std::signbit(value) ? format.sign() : 0;
  if (std::isnan(value)) return format.quiet_nan();
  if (std::isinf(value)) return format.infinities ? std::optional(sign | format.infinity()) : std::nullopt;
  const std::uint64_t pattern = magnitude(format, std::fabs(value));
  if (pattern >= format.finite_end()) return std::nullopt;
  return sign | pattern;
}

bool is_signed(DType type) {
  return type == DType::s8 || type == DType::s16 || type == DType::s32 || type == DType::s64;
}

// Returns the two's complement pattern, or nullopt if the value is not representable.
std::optional<std::uint64_t> integer(DType type, long double value) {
  const int bits = 8 * static_cast<int>(size_of(type)) - (is_signed(type) ? 1 : 0);
  const long double end = std::ldexp(1.0L, bits);
  if (std::isnan(value) || value != std::floor(value)) return std::nullopt;
  if (value >= end || value < (is_signed(type) ? -end : 0.0L)) return std::nullopt;
  return value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) : static_cast<std::uint64_t>(value);
}

}  // namespace

Result<std::vector<std::byte>> scalar_image(std::string_view name, DType type, const Scalar& value) {
  const std::optional<Format> format = format_of(type);
  const std::optional<std::uint64_t> pattern = std::visit(
      [&](auto number) {
        return format.has_value() ? rounded(*format, static_cast<double>(number))
                                  : integer(type, static_cast<long double>(number));
      },
      value);
  if (!pattern.has_value()) {
    return failure(ErrorCode::invalid_argument, "scalar {} = {} is not a value of {}", name,
                   std::visit([](auto number) { return fmt::format("{}", number); }, value), name_of(type));
  }
  std::vector<std::byte> image(size_of(type));
  std::memcpy(image.data(), &*pattern, image.size());
  return image;
}

}  // namespace tma_jit

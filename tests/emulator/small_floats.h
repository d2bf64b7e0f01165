// Floating-point formats of up to 16 bits, defined by tables of their values: an independent oracle for conversions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tma_jit::testing {

class SmallFloat {
 public:
  enum class Top {
    ieee,
    one_nan,
    finite
  };  // the codes of the largest exponent: infinities and NaNs, one NaN, or finite numbers
  enum class To { nearest, zero, down, up };

  SmallFloat(int exponent_bits, int mantissa_bits, int bias, Top top)
      : exponent_bits_(exponent_bits), mantissa_bits_(mantissa_bits), bias_(bias), top_(top) {
    for (std::uint32_t code = 0; code < sign(); ++code)
      if (std::isfinite(value(code))) positive_.push_back({value(code), code});
  }

  double value(std::uint32_t code) const {
    const std::uint32_t mantissa = code & ((1U << mantissa_bits_) - 1);
    const std::uint32_t exponent = code >> mantissa_bits_ & ((1U << exponent_bits_) - 1);
    const double negative = (code & sign()) != 0 ? -1 : 1;
    const bool last = exponent == (1U << exponent_bits_) - 1;
    if (last && top_ == Top::ieee) {
      if (mantissa != 0) return std::numeric_limits<double>::quiet_NaN();
      return negative * std::numeric_limits<double>::infinity();
    }
    if (last && top_ == Top::one_nan && mantissa == (1U << mantissa_bits_) - 1)
      return std::numeric_limits<double>::quiet_NaN();
    const double fraction = std::ldexp(mantissa, -mantissa_bits_);
    if (exponent == 0) return negative * std::ldexp(fraction, 1 - bias_);
    return negative * std::ldexp(1 + fraction, static_cast<int>(exponent) - bias_);
  }

  // Returns the code of a number; `finite` replaces infinity by the largest number.
  std::uint32_t code(double x, To to = To::nearest, bool finite = false) const {
    if (std::isnan(x)) return top_ == Top::finite ? positive_.back().code : sign() - 1;
    const std::uint32_t side = std::signbit(x) ? sign() : 0;
    const double magnitude = std::fabs(x);
    const bool away = (to == To::up && side == 0) || (to == To::down && side != 0);
    const auto above = std::ranges::lower_bound(positive_, magnitude, {}, &Number::value);
    if (above == positive_.end()) {
      const Number& last = positive_.back();
      const double step = last.value - positive_[positive_.size() - 2].value;
      const bool stays = std::isfinite(x) && !away && (to != To::nearest || magnitude < last.value + step / 2);
      return side | (stays || finite || top_ != Top::ieee ? last.code : last.code + 1);
    }
    if (above->value == magnitude) return side | above->code;
    const auto below = above - 1;
    if (to != To::nearest) return side | (away ? above : below)->code;
    const double low = magnitude - below->value, high = above->value - magnitude;
    const bool up = high < low || (high == low && below->code % 2 != 0);
    return side | (up ? above : below)->code;
  }

  std::uint32_t sign() const { return 1U << (exponent_bits_ + mantissa_bits_); }

 private:
  struct Number {
    double value;
    std::uint32_t code;
  };
  int exponent_bits_, mantissa_bits_, bias_;
  Top top_;
  std::vector<Number> positive_;  // ascending
};

inline const SmallFloat& f16_format() {
  static const SmallFloat format(5, 10, 15, SmallFloat::Top::ieee);
  return format;
}
inline const SmallFloat& bf16_format() {
  static const SmallFloat format(8, 7, 127, SmallFloat::Top::ieee);
  return format;
}
inline const SmallFloat& e4m3_format() {
  static const SmallFloat format(4, 3, 7, SmallFloat::Top::one_nan);
  return format;
}
inline const SmallFloat& e5m2_format() {
  static const SmallFloat format(5, 2, 15, SmallFloat::Top::ieee);
  return format;
}
inline const SmallFloat& e2m3_format() {
  static const SmallFloat format(2, 3, 1, SmallFloat::Top::finite);
  return format;
}
inline const SmallFloat& e3m2_format() {
  static const SmallFloat format(3, 2, 3, SmallFloat::Top::finite);
  return format;
}
inline const SmallFloat& e2m1_format() {
  static const SmallFloat format(2, 1, 1, SmallFloat::Top::finite);
  return format;
}

}  // namespace tma_jit::testing

// Element formats against their definitions, implemented independently: values are found by enumeration of all
// patterns, and conversions by a search among all values of the target format.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "emulator/numeric/convert.h"
#include "emulator/numeric/decode_float.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::numeric;

namespace {

// Returns the value of a small pattern as defined by the OCP specifications.
double defined_value(int exponent_bits, int mantissa_bits, int bias, u32 pattern) {
  const u32 mantissa = pattern & ((1U << mantissa_bits) - 1);
  const u32 exponent = (pattern >> mantissa_bits) & ((1U << exponent_bits) - 1);
  const bool negative = (pattern >> (mantissa_bits + exponent_bits)) != 0;
  const double fraction = mantissa / std::pow(2.0, mantissa_bits);
  const double value = exponent == 0 ? fraction * std::pow(2.0, 1 - bias)
                                     : (1 + fraction) * std::pow(2.0, static_cast<int>(exponent) - bias);
  return negative ? -value : value;
}

struct ValuePattern {
  double value;
  u64 pattern;
};

// Returns all finite non-negative values of a format in ascending order.
std::vector<ValuePattern> positive_values(Format format, u64 last) {
  std::vector<ValuePattern> all;
  for (u64 pattern = 0; pattern <= last; ++pattern) all.push_back({value_of(format, pattern), pattern});
  return all;
}

// Returns the pattern in `all` that `value` >= 0 rounds to; `rounding` resolves ties. The last if none is larger.
u64 searched(const std::vector<ValuePattern>& all, double value, Rounding rounding) {
  std::size_t above = 0;
  while (above < all.size() && all[above].value < value) ++above;
  if (above == all.size()) return all.back().pattern;
  if (all[above].value == value || above == 0) return all[above].pattern;
  const ValuePattern low = all[above - 1];
  const ValuePattern high = all[above];
  if (rounding == Rounding::zero || rounding == Rounding::down) return low.pattern;
  if (rounding == Rounding::up) return high.pattern;
  const double to_low = value - low.value;
  const double to_high = high.value - value;
  if (to_low != to_high) return to_low < to_high ? low.pattern : high.pattern;
  if (rounding == Rounding::nearest_away) return high.pattern;
  return low.pattern % 2 == 0 ? low.pattern : high.pattern;
}

u64 bits_of_f32(float value) {
  return std::bit_cast<u32>(value);
}

}  // namespace

TEST_CASE("every pattern of the small formats has its defined value") {
  struct Case {
    Format format;
    int exponent, mantissa, bias;
    u32 patterns;
  };
  for (const Case& c :
       {Case{Format::e2m1, 2, 1, 1, 16}, Case{Format::e2m3, 2, 3, 1, 64}, Case{Format::e3m2, 3, 2, 3, 64},
        Case{Format::e4m3, 4, 3, 7, 256}, Case{Format::e5m2, 5, 2, 15, 256}}) {
    CAPTURE(name_of(c.format));
    for (u32 pattern = 0; pattern < c.patterns; ++pattern) {
      CAPTURE(pattern);
      const bool nan = (c.format == Format::e4m3 && (pattern & 0x7f) == 0x7f) ||
                       (c.format == Format::e5m2 && (pattern & 0x7f) > 0x7c);
      const bool infinite = c.format == Format::e5m2 && (pattern & 0x7f) == 0x7c;
      const double value = value_of(c.format, pattern);
      CHECK(std::isnan(value) == nan);
      CHECK(std::isinf(value) == infinite);
      if (!nan && !infinite) {
        CHECK(value == defined_value(c.exponent, c.mantissa, c.bias, pattern));
        CHECK(std::signbit(value) == (pattern >= c.patterns / 2));
      }
      CHECK((std::isnan(decode_table(c.format)[pattern])
                 ? nan
                 : decode_table(c.format)[pattern] == static_cast<float>(value)));
    }
  }
  CHECK(value_of(Format::e4m3, largest_finite(Format::e4m3)) == 448);
  CHECK(value_of(Format::e5m2, largest_finite(Format::e5m2)) == 57344);
  CHECK(value_of(Format::e2m1, 7) == 6);
  CHECK(value_of(Format::e2m3, 31) == 7.5);
  CHECK(value_of(Format::e3m2, 31) == 28);
  for (int e = 0; e < 255; ++e) CHECK(value_of(Format::ue8m0, static_cast<u64>(e)) == std::ldexp(1.0, e - 127));
  CHECK(std::isnan(value_of(Format::ue8m0, 255)));
}

TEST_CASE("f16, bf16 and tf32 values agree with the machine's floats") {
  for (u32 pattern = 0; pattern < 65536; ++pattern) {
    const auto bf16 = std::bit_cast<float>(pattern << 16);
    const double value = value_of(Format::bf16, pattern);
    CHECK((std::isnan(bf16) ? std::isnan(value) : value == static_cast<double>(bf16)));
    const u32 exponent = (pattern >> 10) & 31;
    const double magnitude = exponent == 0    ? (pattern & 1023) * 0x1p-24
                             : exponent == 31 ? ((pattern & 1023) != 0 ? NAN : INFINITY)
                                              : std::ldexp(1024.0 + (pattern & 1023), static_cast<int>(exponent) - 25);
    const double f16 = value_of(Format::f16, pattern);
    CHECK((std::isnan(magnitude) ? std::isnan(f16) : f16 == (pattern >= 32768 ? -magnitude : magnitude)));
    const auto half = static_cast<u16>(pattern);
    float decoded = 0;
    decode_f32(Format::f16, &half, &decoded, 1);
    CHECK((std::isnan(f16) ? std::isnan(decoded) : static_cast<double>(decoded) == f16));
  }
}

TEST_CASE("conversions to small formats round as a search among their values does") {
  std::mt19937_64 random(7);
  for (const Format format : {Format::e2m1, Format::e2m3, Format::e3m2, Format::e4m3, Format::e5m2, Format::ue4m3}) {
    CAPTURE(name_of(format));
    const auto all = positive_values(format, largest_finite(format));
    std::vector<float> inputs = {0.0F, 1.0F, 3.4e38F, 1e-38F, 0x1p-149F};
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const auto middle = static_cast<float>((all[i].value + all[i + 1].value) / 2);
      for (const float value :
           {static_cast<float>(all[i].value), middle, std::nextafter(middle, 1e9F), std::nextafter(middle, 0.0F)})
        inputs.push_back(value);
    }
    std::uniform_real_distribution<float> exponents(-30, 30);
    for (int i = 0; i < 1000; ++i) inputs.push_back(std::exp2(exponents(random)));
    for (const float value : inputs) {
      for (const Rounding rounding : {Rounding::nearest_even, Rounding::zero, Rounding::nearest_away}) {
        CAPTURE(value);
        const u64 expected = searched(all, value, rounding);
        const Conversion conversion = {.from = Format::f32, .to = format, .rounding = rounding, .finite = true};
        CHECK(convert(conversion, bits_of_f32(value)) == expected);
        const u64 sign = layout_of(format).has_sign ? u64{1} << (bits_of(format) - 1) : 0;
        CHECK(convert(conversion, bits_of_f32(-value)) == (expected | sign));
        Conversion relu = conversion;
        relu.relu = true;
        CHECK(convert(relu, bits_of_f32(-value)) == 0);
      }
    }
    CHECK(convert({.from = Format::f32, .to = format, .finite = true}, 0x7fc00000) == canonical_nan(format));
    CHECK(convert({.from = Format::f32, .to = format, .finite = true}, 0x7f800000) == largest_finite(format));
  }
}

TEST_CASE("f32 to f16 and bf16 round as the search does, in every mode, both signs") {
  std::mt19937_64 random(11);
  for (const Format format : {Format::f16, Format::bf16}) {
    const auto all = positive_values(format, largest_finite(format));
    for (int i = 0; i < 3000; ++i) {
      const auto index = random() % (all.size() - 1);
      const double low = all[index].value;
      const double high = all[index + 1].value;
      const double steps[] = {0.0, 0.25, 0.5, 0.5 + 0x1p-10, 0.75};
      const auto value = static_cast<float>(low + (high - low) * steps[random() % 5]);
      std::vector<ValuePattern> near = {all[index], all[index + 1]};
      for (const Rounding rounding :
           {Rounding::nearest_even, Rounding::zero, Rounding::down, Rounding::up, Rounding::nearest_away}) {
        CAPTURE(value);
        const Conversion conversion = {.from = Format::f32, .to = format, .rounding = rounding};
        CHECK(convert(conversion, bits_of_f32(value)) == searched(near, value, rounding));
        const Rounding mirrored = rounding == Rounding::down ? Rounding::up
                                  : rounding == Rounding::up ? Rounding::down
                                                             : rounding;
        CHECK(convert(conversion, bits_of_f32(-value)) == (searched(near, value, mirrored) | 0x8000));
      }
    }
  }
  CHECK(convert({.from = Format::f32, .to = Format::f16}, bits_of_f32(65520.0F)) == 0x7c00);
  CHECK(convert({.from = Format::f32, .to = Format::f16, .rounding = Rounding::zero}, bits_of_f32(1e9F)) == 0x7bff);
  CHECK(convert({.from = Format::f32, .to = Format::f16, .finite = true}, bits_of_f32(-1e9F)) == 0xfbff);
  CHECK(convert({.from = Format::f32, .to = Format::bf16}, 0x7f800001) == 0x7fff);
}

TEST_CASE("f64 to f32 rounds as the machine does, and wide conversions are exact") {
  std::mt19937_64 random(13);
  for (int i = 0; i < 100000; ++i) {
    const auto value = std::bit_cast<double>(random());
    const auto expected = static_cast<float>(value);
    const u64 got = convert({.from = Format::f64, .to = Format::f32}, std::bit_cast<u64>(value));
    if (std::isnan(value))
      CHECK(got == 0x7fffffff);
    else
      CHECK(got == bits_of_f32(expected));
    const auto narrow = std::bit_cast<float>(static_cast<u32>(random()));
    if (!std::isnan(narrow))
      CHECK(convert({.from = Format::f32, .to = Format::f64}, bits_of_f32(narrow)) ==
            std::bit_cast<u64>(static_cast<double>(narrow)));
  }
}

TEST_CASE("integers convert as the machine's do, clamp from floats, and saturate where asked") {
  std::mt19937_64 random(17);
  for (int i = 0; i < 20000; ++i) {
    const u64 bits = random() >> (random() % 64);
    const auto value = static_cast<s64>(bits);
    CHECK(convert({.from = Format::s64, .to = Format::f32}, bits) == bits_of_f32(static_cast<float>(value)));
    CHECK(convert({.from = Format::u64, .to = Format::f32}, bits) == bits_of_f32(static_cast<float>(bits)));
    CHECK(convert({.from = Format::u64, .to = Format::f64}, bits) == std::bit_cast<u64>(static_cast<double>(bits)));
    CHECK(convert({.from = Format::s64, .to = Format::s8}, bits) == (bits & 0xff));
    const s64 clamped = value < -128 ? -128 : value > 127 ? 127 : value;
    CHECK(convert({.from = Format::s64, .to = Format::s8, .saturate = true}, bits) ==
          (static_cast<u64>(clamped) & 0xff));
    const float f = static_cast<float>(static_cast<s32>(random())) / 1024.0F;
    const auto to_s16 = [&](Rounding rounding) {
      return static_cast<s16>(convert({.from = Format::f32, .to = Format::s16, .rounding = rounding}, bits_of_f32(f)));
    };
    const auto limited = [](float x) { return static_cast<s16>(x < -32768 ? -32768 : x > 32767 ? 32767 : x); };
    CHECK(to_s16(Rounding::zero) == limited(std::trunc(f)));
    CHECK(to_s16(Rounding::down) == limited(std::floor(f)));
    CHECK(to_s16(Rounding::up) == limited(std::ceil(f)));
    CHECK(to_s16(Rounding::nearest_even) == limited(std::nearbyint(f)));
  }
  CHECK(convert({.from = Format::f32, .to = Format::s32}, 0x7fc00000) == 0);
  CHECK(convert({.from = Format::f32, .to = Format::u32}, bits_of_f32(-3.0F)) == 0);
  CHECK(convert({.from = Format::f32, .to = Format::u32}, bits_of_f32(1e20F)) == 0xffffffff);
  CHECK(convert({.from = Format::f64, .to = Format::s64}, std::bit_cast<u64>(-1e300)) == u64{1} << 63);
}

TEST_CASE("flush, saturate and integral rounding of f32") {
  const Conversion flush = {.from = Format::f32, .to = Format::f32, .flush = true};
  CHECK(convert(flush, 0x80000001) == 0x80000000);
  const Conversion unit = {.from = Format::f32, .to = Format::f32, .saturate = true};
  CHECK(convert(unit, bits_of_f32(2.5F)) == bits_of_f32(1.0F));
  CHECK(convert(unit, bits_of_f32(-2.5F)) == 0);
  CHECK(convert(unit, 0x7fc00000) == 0);
  CHECK(convert(unit, bits_of_f32(0.375F)) == bits_of_f32(0.375F));
  for (const float value : {2.5F, 3.5F, -2.5F, 0.49999997F, 1e20F}) {
    CHECK(convert({.from = Format::f32, .to = Format::f32, .integral = true}, bits_of_f32(value)) ==
          bits_of_f32(std::nearbyint(value)));
    CHECK(convert({.from = Format::f32, .to = Format::f32, .rounding = Rounding::down, .integral = true},
                  bits_of_f32(value)) == bits_of_f32(std::floor(value)));
  }
}

TEST_CASE("tf32 keeps ten bits and ue8m0 the exponent") {
  const Conversion tf32 = {.from = Format::f32, .to = Format::tf32, .rounding = Rounding::nearest_away};
  CHECK(convert(tf32, 0x3f801000) == 0x3f802000);
  CHECK(convert(tf32, 0x3f800fff) == 0x3f800000);
  CHECK(convert({.from = Format::f32, .to = Format::tf32}, 0x3f801000) == 0x3f800000);  // a tie, to even
  const Conversion down = {.from = Format::f32, .to = Format::ue8m0, .rounding = Rounding::zero, .finite = true};
  const Conversion up = {.from = Format::f32, .to = Format::ue8m0, .rounding = Rounding::up, .finite = true};
  for (int e = -126; e < 128; ++e) {
    const float power = std::ldexp(1.0F, e);
    CHECK(convert(down, bits_of_f32(power * 1.5F)) == static_cast<u64>(e + 127));
    CHECK(convert(up, bits_of_f32(power)) == static_cast<u64>(e + 127));
    CHECK(convert(up, bits_of_f32(power * 1.5F)) == static_cast<u64>(e == 127 ? 254 : e + 128));
  }
  CHECK(convert(down, 0x7fc00000) == 255);
  CHECK(convert(down, 0) == 0);
}

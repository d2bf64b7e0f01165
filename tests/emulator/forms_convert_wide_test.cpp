// Forms of cvt between integers and floats of 32 and 64 bits, against the host's arithmetic.
#include <cmath>

#include "emulator/form_check.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;

namespace {

template <class T> T as(u64 x) {
  return static_cast<T>(x);
}

// Rounds an integer to a float in a given direction; exact 113-bit arithmetic decides the side of the nearest float.
template <class F, class I> u64 directed(I value, int to) {
  F nearest = static_cast<F>(value);
  const bool above = static_cast<__float128>(nearest) > static_cast<__float128>(value);
  const bool below = static_cast<__float128>(nearest) < static_cast<__float128>(value);
  const bool down = to < 0 || (to == 0 && value > 0), up = to > 0 || (to == 0 && value < 0);
  if (above && down) nearest = std::nextafter(nearest, -std::numeric_limits<F>::infinity());
  if (below && up) nearest = std::nextafter(nearest, std::numeric_limits<F>::infinity());
  return bits(nearest);
}

// NaN becomes 0, or the smallest number or half the range if either type has 64 bits.
template <class I> u64 clamped(double x, bool from_f64 = false) {
  if (std::isnan(x)) return from_f64 || sizeof(I) == 8 ? u64{1} << (8 * sizeof(I) - 1) : 0;
  constexpr auto kLow = static_cast<double>(std::numeric_limits<I>::min()),
                 kHigh = static_cast<double>(std::numeric_limits<I>::max());
  if (x <= kLow) return static_cast<u64>(std::numeric_limits<I>::min());
  return x >= kHigh ? static_cast<u64>(std::numeric_limits<I>::max()) : static_cast<u64>(static_cast<I>(x));
}

Inputs doubles(std::mt19937_64& random) {
  const auto number = [&] {
    const double size =
        std::ldexp(static_cast<double>(static_cast<s64>(random()) >> 11), static_cast<int>(random() % 90) - 85);
    return random() % 16 == 0 ? bits(std::numeric_limits<double>::quiet_NaN()) : bits(size);
  };
  return {number(), number(), number()};
}

Inputs singles(std::mt19937_64& random) {
  const auto number = [&] {
    const auto mantissa = static_cast<float>(static_cast<s32>(random() % (1U << 24)) - (1 << 23));
    return bits(std::ldexp(mantissa, static_cast<int>(random() % 48) - 30));
  };
  return {number(), number(), number()};
}

}  // namespace

TEST_CASE("Forms: integers to integers wrap, extend and saturate") {
  check_forms(
      {{"cvt.u8.u32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a & 255; }},
       {"cvt.s8.s32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return static_cast<u64>(s64{as<std::int8_t>(a)}); }},
       {"cvt.u16.u32 #10, @1;", 4, 2, [](u64 a, u64, u64) { return a & 0xffff; }},
       {"cvt.s64.s32 #10, @1;", 4, 8, [](u64 a, u64, u64) { return static_cast<u64>(s64{s(a)}); }},
       {"cvt.u64.u32 #10, @1;", 4, 8, [](u64 a, u64, u64) { return a; }},
       {"cvt.u32.u64 #10, @1;", 8, 4, [](u64 a, u64, u64) { return a; }},
       {"cvt.s32.s16 #10, @1;", 2, 4, [](u64 a, u64, u64) { return static_cast<u64>(s64{as<std::int16_t>(a)}); }},
       {"cvt.s64.u16 #10, @1;", 2, 8, [](u64 a, u64, u64) { return a; }},
       {"cvt.sat.u8.s32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return static_cast<u64>(std::clamp(s(a), 0, 255)); }},
       {"cvt.sat.s16.s32 #10, @1;", 4, 2,
        [](u64 a, u64, u64) { return static_cast<u64>(std::clamp(s(a), -32768, 32767)); }},
       {"cvt.sat.u32.s64 #10, @1;", 8, 4,
        [](u64 a, u64, u64) { return static_cast<u64>(std::clamp<s64>(static_cast<s64>(a), 0, 0xffffffff)); }},
       {"cvt.sat.s32.u64 #10, @1;", 8, 4, [](u64 a, u64, u64) { return std::min<u64>(a, 0x7fffffff); }}},
      any_bits);
}

TEST_CASE("Forms: integers to floats in every direction") {
  check_forms({{"cvt.rn.f32.s32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(static_cast<float>(s(a))); }},
               {"cvt.rz.f32.s32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return directed<float>(s(a), 0); }},
               {"cvt.rp.f32.u32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return directed<float>(u(a), 1); }},
               {"cvt.rm.f32.s64 %f1, @1; mov.b32 #10, %f1;", 8, 4,
                [](u64 a, u64, u64) { return directed<float>(static_cast<s64>(a), -1); }},
               {"cvt.rn.f64.s64 #10, @1;", 8, 8,
                [](u64 a, u64, u64) { return bits(static_cast<double>(static_cast<s64>(a))); }},
               {"cvt.rz.f64.u64 #10, @1;", 8, 8, [](u64 a, u64, u64) { return directed<double>(a, 0); }},
               {"cvt.rn.f64.u32 #10, @1;", 4, 8, [](u64 a, u64, u64) { return bits(static_cast<double>(u(a))); }},
               {"cvt.rn.f32.u16 #10, @1;", 2, 4, [](u64 a, u64, u64) { return bits(static_cast<float>(a)); }}},
              any_bits);
}

TEST_CASE("Forms: floats to integers, clamped") {
  check_forms(
      {{"cvt.rzi.u64.f64 #10, @1;", 8, 8, [](u64 a, u64, u64) { return clamped<u64>(std::trunc(g(a)), true); }},
       {"cvt.rmi.s32.f64 #10, @1;", 8, 4, [](u64 a, u64, u64) { return clamped<s32>(std::floor(g(a)), true); }},
       {"cvt.rpi.u16.f64 #10, @1;", 8, 2, [](u64 a, u64, u64) { return clamped<u16>(std::ceil(g(a)), true); }},
       {"cvt.rni.s64.f64 #10, @2;", 8, 8, [](u64, u64 b, u64) { return clamped<s64>(std::nearbyint(g(b)), true); }}},
      doubles);
  check_forms(
      {{"cvt.rzi.u8.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return clamped<std::uint8_t>(std::trunc(f(a))); }},
       {"cvt.rmi.u32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return clamped<u32>(std::floor(f(a))); }},
       {"cvt.rpi.s64.f32 #10, @1;", 4, 8, [](u64 a, u64, u64) { return clamped<s64>(std::ceil(f(a))); }}},
      singles);
}

TEST_CASE("Forms: f64 to f32 and back, integral, saturated and flushed") {
  const auto numbers = [](std::mt19937_64& random) {
    Inputs in = doubles(random);
    while (std::isnan(g(in.a))) in = doubles(random);
    return in;
  };
  check_forms({{"cvt.rn.f32.f64 %f1, @1; mov.b32 #10, %f1;", 8, 4,
                [](u64 a, u64, u64) { return bits(static_cast<float>(g(a))); }},
               {"cvt.rz.f32.f64 %f1, @1; mov.b32 #10, %f1;", 8, 4,
                [](u64 a, u64, u64) {
                  const auto nearest = static_cast<float>(g(a));
                  return bits(std::fabs(double{nearest}) > std::fabs(g(a)) ? std::nextafter(nearest, 0.0F) : nearest);
                }},
               {"cvt.rni.f64.f64 #10, @1;", 8, 8, [](u64 a, u64, u64) { return bits(std::nearbyint(g(a))); }}},
              numbers);
  check_forms(
      {{"cvt.f64.f32 #10, @1;", 4, 8, [](u64 a, u64, u64) { return bits(double{f(a)}); }},
       {"cvt.sat.f32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(std::clamp(f(a), 0.0F, 1.0F) + 0.0F); }},
       {"cvt.rpi.f32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(std::ceil(f(a))); }}},
      singles);
  const auto tiny = [](std::mt19937_64& random) -> Inputs {
    return {random() % 0x1000000 | (random() % 2) << 31, 0, 0};
  };
  check_forms({{"cvt.ftz.f64.f32 #10, @1;", 4, 8,
                [](u64 a, u64, u64) {
                  const bool normal = (a & 0x7f800000) != 0;
                  return bits(normal ? double{f(a)} : std::copysign(0.0, double{f(a)}));
                }}},
              tiny);
}

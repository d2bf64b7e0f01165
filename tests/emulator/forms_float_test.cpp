// Forms of floating-point arithmetic and conversion, each against a scalar formula on edge values and random ones.
#include <cmath>

#include "emulator/form_check.h"
#include "emulator/numeric/convert.h"
#include "emulator/numeric/float_bits.h"

using namespace tma_jit;
using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;

namespace {

// Numbers of moderate size, so that sums and products of three are exact in 113 bits.
float moderate(std::mt19937_64& random) {
  const auto mantissa = static_cast<float>(static_cast<s32>(random() % (1U << 24)) - (1 << 23));
  return std::ldexp(mantissa, static_cast<int>(random() % 12) - 20);
}
Inputs moderate_f32(std::mt19937_64& random) {
  return {bits(moderate(random)), bits(moderate(random)), bits(moderate(random))};
}
Inputs moderate_f64(std::mt19937_64& random) {
  const auto wide = [&] {
    return static_cast<double>(moderate(random)) + static_cast<double>(moderate(random)) * 0x1p-20;
  };
  return {bits(wide()), bits(wide()), bits(wide())};
}

using Exact = __float128;
enum class Toward { zero, down, up };

// Returns the number of type T next to an exact value in a direction.
template <class T> u64 directed(Exact value, Toward to) {
  T nearest = static_cast<T>(value);
  const bool lower = static_cast<Exact>(nearest)<value, higher = static_cast<Exact>(nearest)> value;
  const bool down = to == Toward::down || (to == Toward::zero && value > 0),
             up = to == Toward::up || (to == Toward::zero && value < 0);
  if (higher && down) nearest = std::nextafter(nearest, -std::numeric_limits<T>::infinity());
  if (lower && up) nearest = std::nextafter(nearest, std::numeric_limits<T>::infinity());
  if (nearest == 0 && value == 0) nearest = to == Toward::down ? -T{0} : T{0};
  return bits(nearest);
}
Exact x(u64 a) {
  return static_cast<Exact>(f(a));
}
Exact y(u64 a) {
  return static_cast<Exact>(g(a));
}

}  // namespace

TEST_CASE("Forms: directed rounding of f32 and f64") {
  check_forms(
      {{"add.rz.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) + x(b), Toward::zero); }},
       {"sub.rm.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) - x(b), Toward::down); }},
       {"add.rp.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) + x(b), Toward::up); }},
       {"mul.rz.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) * x(b), Toward::zero); }},
       {"mul.rp.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) * x(b), Toward::up); }},
       {"fma.rm.f32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return directed<float>(x(a) * x(b) + x(c), Toward::down); }},
       {"fma.rz.f32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return directed<float>(x(a) * x(b) + x(c), Toward::zero); }},
       {"fma.rp.f32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return directed<float>(x(a) * x(b) + x(c), Toward::up); }},
       {"fma.rn.f32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return bits(static_cast<float>(x(a) * x(b) + x(c))); }}},
      moderate_f32);
  check_forms(
      {{"add.rz.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return directed<double>(y(a) + y(b), Toward::zero); }},
       {"sub.rm.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return directed<double>(y(a) - y(b), Toward::down); }},
       {"mul.rp.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return directed<double>(y(a) * y(b), Toward::up); }},
       {"mul.rz.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return directed<double>(y(a) * y(b), Toward::zero); }},
       {"fma.rn.f64 #10, @1, @2, @3;", 8, 8, [](u64 a, u64 b, u64 c) { return bits(std::fma(g(a), g(b), g(c))); }}},
      moderate_f64);
}

TEST_CASE("Forms: floats of every bit pattern") {
  check_forms(
      {{"min.f32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) {
          if (std::isnan(f(a))) return std::isnan(f(b)) ? u64{0x7fffffff} : b;
          if (std::isnan(f(b))) return a;
          if (f(a) == 0 && f(b) == 0) return a | b;  // -0 is less than +0
          return bits(std::fmin(f(a), f(b)));
        }},
       {"max.NaN.f32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) {
          if (std::isnan(f(a)) || std::isnan(f(b))) return u64{0x7fffffff};
          if (f(a) == 0 && f(b) == 0) return a & b;
          return bits(std::max(f(a), f(b)));
        }},
       {"abs.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a & 0x7fffffff; }},
       {"neg.f64 #10, @1;", 8, 8, [](u64 a, u64, u64) { return a ^ u64 { 1 } << 63; }},
       {"copysign.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return (b & 0x7fffffff) | (a & 0x80000000); }},
       {"testp.subnormal.f32 %p1, @1; selp.u32 #10, 1, 0, %p1;", 4, 4,
        [](u64 a, u64, u64) { return u64{(a & 0x7f800000) == 0 && (a & 0x7fffff) != 0}; }},
       {"testp.notanumber.f32 %p1, @1; selp.u32 #10, 1, 0, %p1;", 4, 4,
        [](u64 a, u64, u64) { return u64{std::isnan(f(a))}; }},
       {"setp.ltu.f32 %p1, @1, @2; selp.u32 #10, 1, 0, %p1;", 4, 4,
        [](u64 a, u64 b, u64) { return u64{!(f(a) >= f(b))}; }},
       {"cvt.rzi.s32.f32 #10, @1;", 4, 4,
        [](u64 a, u64, u64) {
          const double value = std::trunc(double{f(a)});
          if (std::isnan(value)) return u64{0};
          return static_cast<u64>(static_cast<s64>(std::clamp(value, -0x1p31, 0x1p31 - 1)));
        }},
       {"cvt.rni.s64.f64 #10, @1;", 8, 8,
        [](u64 a, u64, u64) {
          const double value = std::nearbyint(g(a));
          if (std::isnan(value) || value <= -0x1p63) return u64{1} << 63;
          return value >= 0x1p63 ? ~(u64{1} << 63) : static_cast<u64>(static_cast<s64>(value));
        }},
       {"cvt.rn.f32.u64 %f1, @1; mov.b32 %r1, %f1; cvt.u64.u32 #10, %r1;", 8, 8,
        [](u64 a, u64, u64) { return bits(static_cast<float>(a)); }},
       {"cvt.sat.u8.s32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return static_cast<u64>(std::clamp(s(a), 0, 255)); }}},
      any_bits);
}

TEST_CASE("Forms: half precision, its saturation and rectification") {
  const auto halves = [](std::mt19937_64& random) -> Inputs {
    const auto half = [&] {
      return u64{emulator::numeric::f32_to_f16(
                 std::ldexp(1.0F + static_cast<float>(random() % 1024) / 1024, static_cast<int>(random() % 12) - 8))} |
             (random() % 2) << 15;
    };
    return {half() | half() << 16, half() | half() << 16, half() | half() << 16};
  };
  check_forms({{"fma.rn.relu.f16x2 #10, @1, @2, @3;", 4, 4,
                [](u64 a, u64 b, u64 c) {
                  u64 result = 0;
                  for (int i = 0; i < 32; i += 16) {
                    // Exact in f64: 11 by 11 bits, with exponents close to each other.
                    const double value = double{emulator::numeric::f16_to_f32(static_cast<u16>(a >> i))} *
                                             emulator::numeric::f16_to_f32(static_cast<u16>(b >> i)) +
                                         emulator::numeric::f16_to_f32(static_cast<u16>(c >> i));
                    result |= emulator::numeric::nearest(emulator::numeric::Format::f16, value > 0 ? value : 0.0) << i;
                  }
                  return result;
                }},
               {"add.sat.f16x2 #10, @1, @2;", 4, 4,
                [](u64 a, u64 b, u64) {
                  u64 result = 0;
                  for (int i = 0; i < 32; i += 16) {
                    const double value = double{emulator::numeric::f16_to_f32(static_cast<u16>(a >> i))} +
                                         emulator::numeric::f16_to_f32(static_cast<u16>(b >> i));
                    result |= emulator::numeric::nearest(emulator::numeric::Format::f16, std::clamp(value, 0.0, 1.0))
                              << i;
                  }
                  return result;
                }},
               {"max.NaN.f16x2 #10, @1, @2;", 4, 4,
                [](u64 a, u64 b, u64) {
                  u64 result = 0;
                  for (int i = 0; i < 32; i += 16) {
                    const auto p = static_cast<u16>(a >> i), q = static_cast<u16>(b >> i);
                    result |= u64{emulator::numeric::f16_to_f32(p) > emulator::numeric::f16_to_f32(q) ? p : q} << i;
                  }
                  return result;
                }}},
              halves);
}

TEST_CASE("Forms: conversions to and from packed small formats") {
  using emulator::numeric::Format;
  // Each element by the definition of its format, through f64.
  const auto check = [](const char* text, int to, u64 (*expected)(u64, u64, u64)) {
    check_forms({{text, 4, to, expected}}, moderate_f32);
  };
  static const auto small = [](Format format, u64 a) {
    return emulator::numeric::convert({.from = Format::f64, .to = format, .finite = true}, bits(double{f(a)}));
  };
  check("cvt.rn.satfinite.e4m3x2.f32 #10, @1, @2;", 2,
        [](u64 a, u64 b, u64) { return small(Format::e4m3, a) << 8 | small(Format::e4m3, b); });
  check("cvt.rn.satfinite.e5m2x2.f32 #10, @1, @2;", 2,
        [](u64 a, u64 b, u64) { return small(Format::e5m2, a) << 8 | small(Format::e5m2, b); });
  check("cvt.rn.satfinite.e3m2x2.f32 #10, @1, @2;", 2,
        [](u64 a, u64 b, u64) { return small(Format::e3m2, a) << 8 | small(Format::e3m2, b); });
  check("{.reg .b8 q; cvt.rn.satfinite.e2m1x2.f32 q, @1, @2; cvt.u16.u8 #10, q;}", 2,
        [](u64 a, u64 b, u64) { return small(Format::e2m1, a) << 4 | small(Format::e2m1, b); });
  check("cvt.rn.satfinite.e4m3x2.f32 %h1, @1, @2; cvt.rn.f16x2.e4m3x2 #10, %h1;", 4, [](u64 a, u64 b, u64) {
    const auto wide = [](u64 value) {
      const double exact = emulator::numeric::value_of(Format::e4m3, small(Format::e4m3, value));
      return emulator::numeric::nearest(Format::f16, exact);
    };
    return wide(a) << 16 | wide(b);
  });
  check("cvt.rp.satfinite.ue8m0x2.f32 #10, @1, @2;", 2, [](u64 a, u64 b, u64) {
    const auto exponent = [](u64 value) {
      const double magnitude = std::fabs(double{f(value)});
      return magnitude == 0 ? u64{0} : static_cast<u64>(static_cast<s64>(std::ceil(std::log2(magnitude))) + 127);
    };
    return exponent(a) << 8 | exponent(b);
  });
  check("cvt.rz.ue8m0x2.f32 %h1, @1, @2; cvt.rn.bf16x2.ue8m0x2 #10, %h1;", 4, [](u64 a, u64 b, u64) {
    const auto power = [](u64 value) {
      const double magnitude = std::fabs(double{f(value)});
      return magnitude == 0 ? u64{0x0040} : bits(static_cast<float>(std::exp2(std::floor(std::log2(magnitude))))) >> 16;
    };
    return power(a) << 16 | power(b);
  });
}

TEST_CASE("Forms: pairs of f32, quotients and roots of any rounding") {
  check_forms({{"add.rz.f32x2 #10, @1, @2;", 8, 8,
                [](u64 a, u64 b, u64) {
                  return directed<float>(x(a) + x(b), Toward::zero) |
                         directed<float>(x(a >> 32) + x(b >> 32), Toward::zero) << 32;
                }},
               {"sub.f32x2 #10, @1, @2;", 8, 8,
                [](u64 a, u64 b, u64) { return bits(f(a) - f(b)) | bits(f(a >> 32) - f(b >> 32)) << 32; }},
               {"mul.f32x2 #10, @1, @2;", 8, 8,
                [](u64 a, u64 b, u64) { return bits(f(a) * f(b)) | bits(f(a >> 32) * f(b >> 32)) << 32; }},
               {"fma.rn.ftz.f32x2 #10, @1, @2, @3;", 8, 8,
                [](u64 a, u64 b, u64 c) {
                  return bits(std::fma(f(a), f(b), f(c))) | bits(std::fma(f(a >> 32), f(b >> 32), f(c >> 32))) << 32;
                }}},
              [](std::mt19937_64& random) -> Inputs {
                const auto pair = [&] { return bits(moderate(random)) | bits(moderate(random)) << 32; };
                return {pair(), pair(), pair()};
              });
  const auto positive = [](std::mt19937_64& random) -> Inputs {
    const auto number = [&] { return bits(std::fabs(moderate(random)) + 0x1p-20F); };
    return {number(), number(), number()};
  };
  check_forms(
      {{"div.rn.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return bits(f(a) / f(b)); }},
       {"rcp.rn.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(1.0F / f(a)); }},
       {"sqrt.rn.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(std::sqrt(f(a))); }},
       {"sqrt.rz.f32 #10, @1;", 4, 4,
        [](u64 a, u64, u64) {
          float root = std::sqrt(f(a));
          if (x(bits(root)) * x(bits(root)) > x(a)) root = std::nextafter(root, 0.0F);
          return bits(root);
        }},
       {"mad.rn.f32 #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return bits(std::fma(f(a), f(b), f(c))); }},
       {"neg.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a ^ 0x80000000; }},
       {"cvt.rna.tf32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return (a + 0x1000) & ~u64{0x1fff}; }}},
      positive);
  const auto doubles = [](std::mt19937_64& random) -> Inputs {
    const auto number = [&] { return bits(std::fabs(double{moderate(random)}) + 0x1p-30); };
    return {number(), number(), number()};
  };
  check_forms(
      {{"div.rn.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return bits(g(a) / g(b)); }},
       {"rcp.rn.f64 #10, @1;", 8, 8, [](u64 a, u64, u64) { return bits(1.0 / g(a)); }},
       {"sqrt.rn.f64 #10, @1;", 8, 8, [](u64 a, u64, u64) { return bits(std::sqrt(g(a))); }},
       {"mad.rn.f64 #10, @1, @2, @3;", 8, 8, [](u64 a, u64 b, u64 c) { return bits(std::fma(g(a), g(b), g(c))); }},
       {"min.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return bits(std::min(g(a), g(b))); }},
       {"max.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return bits(std::max(g(a), g(b))); }},
       {"neg.f64 #10, @1; abs.f64 #10, #10;", 8, 8, [](u64 a, u64, u64) { return a; }}},
      doubles);
}

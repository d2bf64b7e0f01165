// Forms of cvt between floats of 16 bits and fewer, against tables of the formats' values.
#include "emulator/form_check.h"
#include "emulator/small_floats.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;
using To = SmallFloat::To;

namespace {

// Arbitrary f32, with many near the limits of the small formats. Numbers between 0 and -2^-100 are excluded, because
// the sign of their rounding to zero is unspecified.
Inputs floats(std::mt19937_64& random) {
  const auto number = [&]() -> u64 {
    const u64 pick = random() % 8;
    if (pick == 0) return bits(std::numeric_limits<float>::infinity()) | (random() % 2) << 31;
    if (pick == 1) return 0x7fc00000 | random() % 0x1000;
    if (pick == 2) return bits(65504.0F + static_cast<float>(static_cast<int>(random() % 64)) - 20);
    if (pick == 3) return bits(std::ldexp(static_cast<float>(random() % 4096), -30));
    const float size =
        std::ldexp(1.0F + static_cast<float>(random() % (1U << 23)) / (1U << 23), static_cast<int>(random() % 44) - 24);
    return bits(random() % 2 == 0 ? size : -size);
  };
  return {number(), number(), number()};
}

double rectified(double x) {
  return x < 0 ? 0 : x;
}

double value_of(u64 a) {
  return double{f(a)};
}

u64 pair_of(u64 high, u64 low, int width) {
  return high << width | low;
}

}  // namespace

TEST_CASE("Forms: f32 and f64 to 16 bits, in every direction, saturated, rectified and finite") {
  check_forms(
      {{"cvt.rn.f16.f32 #10, @1;", 4, 2, [](u64 a, u64, u64) { return u64{f16_format().code(value_of(a))}; }},
       {"cvt.rz.f16.f32 #10, @1;", 4, 2, [](u64 a, u64, u64) { return u64{f16_format().code(value_of(a), To::zero)}; }},
       {"cvt.rm.f16.f32 #10, @1;", 4, 2, [](u64 a, u64, u64) { return u64{f16_format().code(value_of(a), To::down)}; }},
       {"cvt.rp.f16.f32 #10, @1;", 4, 2, [](u64 a, u64, u64) { return u64{f16_format().code(value_of(a), To::up)}; }},
       {"cvt.rn.relu.f16.f32 #10, @1;", 4, 2,
        [](u64 a, u64, u64) { return u64{f16_format().code(rectified(value_of(a)))}; }},
       {"cvt.rn.satfinite.f16.f32 #10, @1;", 4, 2,
        [](u64 a, u64, u64) { return u64{f16_format().code(value_of(a), To::nearest, true)}; }},
       {"cvt.rn.sat.f16.f32 #10, @1;", 4, 2,
        [](u64 a, u64, u64) {
          const double x = value_of(a);
          return std::isnan(x) ? u64{0} : u64{f16_format().code(std::clamp(x, 0.0, 1.0) + 0.0)};
        }},
       {"cvt.rn.bf16.f32 #10, @1;", 4, 2, [](u64 a, u64, u64) { return u64{bf16_format().code(value_of(a))}; }},
       {"cvt.rz.bf16.f32 #10, @1;", 4, 2,
        [](u64 a, u64, u64) { return u64{bf16_format().code(value_of(a), To::zero)}; }},
       {"cvt.rz.relu.bf16.f32 #10, @1;", 4, 2,
        [](u64 a, u64, u64) { return u64{bf16_format().code(rectified(value_of(a)), To::zero)}; }},
       {"cvt.rn.relu.satfinite.bf16.f32 #10, @1;", 4, 2,
        [](u64 a, u64, u64) { return u64{bf16_format().code(rectified(value_of(a)), To::nearest, true)}; }},
       {"cvt.rn.f16x2.f32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) { return pair_of(f16_format().code(value_of(a)), f16_format().code(value_of(b)), 16); }},
       {"cvt.rz.bf16x2.f32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) {
          return pair_of(bf16_format().code(value_of(a), To::zero), bf16_format().code(value_of(b), To::zero), 16);
        }},
       {"cvt.rn.bf16x2.f32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) {
          return pair_of(bf16_format().code(value_of(a)), bf16_format().code(value_of(b)), 16);
        }},
       {"cvt.rn.relu.f16x2.f32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) {
          return pair_of(f16_format().code(rectified(value_of(a))), f16_format().code(rectified(value_of(b))), 16);
        }},
       {"cvt.rz.relu.satfinite.bf16x2.f32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) {
          return pair_of(bf16_format().code(rectified(value_of(a)), To::zero, true),
                         bf16_format().code(rectified(value_of(b)), To::zero, true), 16);
        }}},
      floats);
}

TEST_CASE("Forms: 16-bit floats to wider ones, to integral ones and to each other, every pattern of bits") {
  const auto every = [](std::mt19937_64& random) -> Inputs { return {random() & 0xffff, 0, 0}; };
  check_forms(
      {{"cvt.f32.f16 %f1, @1; mov.b32 #10, %f1;", 2, 4,
        [](u64 a, u64, u64) {
          const double x = f16_format().value(static_cast<u32>(a));
          return std::isnan(x) ? u64{0x7fffffff} : bits(static_cast<float>(x));
        }},
       {"cvt.f64.f16 %g1, @1; mov.b64 #10, %g1;", 2, 8,
        [](u64 a, u64, u64) {
          const double x = f16_format().value(static_cast<u32>(a));
          return std::isnan(x) ? ~(u64{1} << 63) : bits(x);
        }},
       {"cvt.f32.bf16 %f1, @1; mov.b32 #10, %f1;", 2, 4,
        [](u64 a, u64, u64) { return std::isnan(f(a << 16)) ? u64{0x7fffffff} : a << 16; }},
       {"cvt.rzi.f16.f16 #10, @1;", 2, 2,
        [](u64 a, u64, u64) { return u64{f16_format().code(std::trunc(f16_format().value(static_cast<u32>(a))))}; }},
       {"cvt.rpi.s32.f16 #10, @1;", 2, 4,
        [](u64 a, u64, u64) {
          const double x = std::ceil(f16_format().value(static_cast<u32>(a)));
          return std::isnan(x) ? u64{0} : static_cast<u64>(static_cast<s64>(std::clamp(x, -0x1p31, 0x1p31 - 1)));
        }},
       {"cvt.rmi.s16.bf16 #10, @1;", 2, 2,
        [](u64 a, u64, u64) {
          const double x = std::floor(double{f(a << 16)});
          return std::isnan(x) ? u64{0} : static_cast<u64>(static_cast<s64>(std::clamp(x, -32768.0, 32767.0)));
        }},
       {"cvt.rn.bf16.f16 #10, @1;", 2, 2,
        [](u64 a, u64, u64) { return u64{bf16_format().code(f16_format().value(static_cast<u32>(a)))}; }},
       {"cvt.rn.f16.bf16 #10, @1;", 2, 2, [](u64 a, u64, u64) { return u64{f16_format().code(double{f(a << 16)})}; }}},
      every);
}

TEST_CASE("Forms: f32 to pairs of 8, 6 and 4 bits, finite and rectified") {
  const auto check = [](const char* text, int from, int to, u64 (*expected)(u64, u64, u64)) {
    check_forms({{text, from, to, expected}}, floats);
  };
  static const auto small = [](const SmallFloat& format, double x) { return u64{format.code(x, To::nearest, true)}; };
  check("cvt.rn.satfinite.e4m3x2.f32 #10, @1, @2;", 4, 2, [](u64 a, u64 b, u64) {
    return pair_of(small(e4m3_format(), value_of(a)), small(e4m3_format(), value_of(b)), 8);
  });
  check("cvt.rn.satfinite.relu.e5m2x2.f32 #10, @1, @2;", 4, 2, [](u64 a, u64 b, u64) {
    return pair_of(small(e5m2_format(), rectified(value_of(a))), small(e5m2_format(), rectified(value_of(b))), 8);
  });
  check("cvt.rn.satfinite.e2m3x2.f32 #10, @1, @2;", 4, 2, [](u64 a, u64 b, u64) {
    return pair_of(small(e2m3_format(), value_of(a)), small(e2m3_format(), value_of(b)), 8);
  });
  check("cvt.rn.satfinite.relu.e3m2x2.f32 #10, @1, @2;", 4, 2, [](u64 a, u64 b, u64) {
    return pair_of(small(e3m2_format(), rectified(value_of(a))), small(e3m2_format(), rectified(value_of(b))), 8);
  });
  check("{.reg .b8 q; cvt.rn.satfinite.relu.e2m1x2.f32 q, @1, @2; cvt.u16.u8 #10, q;}", 4, 2, [](u64 a, u64 b, u64) {
    return pair_of(small(e2m1_format(), rectified(value_of(a))), small(e2m1_format(), rectified(value_of(b))), 4);
  });
  check("cvt.rn.f16x2.f32 @3, @1, @2; cvt.rn.satfinite.e5m2x2.f16x2 #10, @3;", 4, 2, [](u64 a, u64 b, u64) {
    const auto twice = [](u64 x) { return small(e5m2_format(), f16_format().value(f16_format().code(value_of(x)))); };
    return pair_of(twice(a), twice(b), 8);
  });
  check("cvt.rn.f16x2.f32 @3, @1, @2; cvt.rn.satfinite.relu.e4m3x2.f16x2 #10, @3;", 4, 2, [](u64 a, u64 b, u64) {
    const auto twice = [](u64 x) {
      return small(e4m3_format(), rectified(f16_format().value(f16_format().code(value_of(x)))));
    };
    return pair_of(twice(a), twice(b), 8);
  });
}

TEST_CASE("Forms: pairs of 8, 6 and 4 bits to f16, every pattern of bits") {
  const auto pairs = [](std::mt19937_64& random) -> Inputs { return {random() & 0xffff, random() & 0x3f3f, 0}; };
  static const auto wide = [](const SmallFloat& format, u64 code) {
    return u64{f16_format().code(format.value(static_cast<u32>(code)))};
  };
  static const auto lifted = [](const SmallFloat& format, u64 code) {
    const double x = format.value(static_cast<u32>(code));
    return u64{f16_format().code(x <= 0 ? 0 : x)};
  };
  check_forms(
      {{"cvt.rn.f16x2.e4m3x2 #10, @1;", 2, 4,
        [](u64 a, u64, u64) { return pair_of(wide(e4m3_format(), a >> 8), wide(e4m3_format(), a & 255), 16); }},
       {"cvt.rn.f16x2.e5m2x2 #10, @1;", 2, 4,
        [](u64 a, u64, u64) { return pair_of(wide(e5m2_format(), a >> 8), wide(e5m2_format(), a & 255), 16); }},
       {"cvt.rn.relu.f16x2.e5m2x2 #10, @1;", 2, 4,
        [](u64 a, u64, u64) { return pair_of(lifted(e5m2_format(), a >> 8), lifted(e5m2_format(), a & 255), 16); }},
       {"cvt.rn.f16x2.e2m3x2 #10, @2;", 2, 4,
        [](u64, u64 b, u64) { return pair_of(wide(e2m3_format(), b >> 8), wide(e2m3_format(), b & 255), 16); }},
       {"cvt.rn.relu.f16x2.e3m2x2 #10, @2;", 2, 4,
        [](u64, u64 b, u64) { return pair_of(lifted(e3m2_format(), b >> 8), lifted(e3m2_format(), b & 255), 16); }},
       {"{.reg .b8 q; cvt.u8.u16 q, @1; cvt.rn.f16x2.e2m1x2 #10, q;}", 2, 4,
        [](u64 a, u64, u64) { return pair_of(wide(e2m1_format(), a >> 4 & 15), wide(e2m1_format(), a & 15), 16); }}},
      pairs);
}

TEST_CASE("Forms: powers of two as ue8m0, and tf32") {
  // Positive bf16 above 2^-126, whose exponents equal the codes.
  const auto positive = [](std::mt19937_64& random) -> Inputs {
    const auto half = [&] { return 0x0080 + random() % 0x7e00; };
    return {half() | half() << 16, 0, 0};
  };
  check_forms({{"cvt.rz.ue8m0x2.bf16x2 #10, @1;", 4, 2,
                [](u64 a, u64, u64) { return pair_of(a >> 23 & 255, a >> 7 & 255, 8); }},
               {"cvt.rp.satfinite.ue8m0x2.bf16x2 #10, @1;", 4, 2,
                [](u64 a, u64, u64) {
                  const auto up = [](u64 half) {
                    return std::min<u64>((half >> 7) + ((half & 127) != 0 ? 1 : 0), 254);
                  };
                  return pair_of(up(a >> 16), up(a & 0xffff), 8);
                }}},
              positive);
  const auto finite = [](std::mt19937_64& random) -> Inputs {
    return {random() % 0x7f000000 | (random() % 2) << 31, 0, 0};
  };
  static const auto even = [](u64 a) { return (a + 0xfff + (a >> 13 & 1)) & ~u64{0x1fff}; };
  check_forms(
      {{"cvt.rn.tf32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return even(a); }},
       {"cvt.rz.tf32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a & ~u64{0x1fff}; }},
       {"cvt.rna.satfinite.tf32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return (a + 0x1000) & ~u64{0x1fff}; }},
       {"cvt.rn.relu.tf32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a >> 31 != 0 ? 0 : even(a); }}},
      finite);
}

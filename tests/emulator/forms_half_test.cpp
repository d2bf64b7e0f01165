// Forms of 16-bit floats in pairs and alone, each against a formula in f64, where it is exact.
#include <cmath>

#include "emulator/form_check.h"
#include "emulator/numeric/convert.h"
#include "emulator/numeric/float_bits.h"

using namespace tma_jit;
using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;

namespace {

u64 pairwise(u64 a, u64 b, u64 c, bool brain, double (*f)(double, double, double)) {
  u64 result = 0;
  for (int i = 0; i < 32; i += 16) {
    const auto value = [&](u64 x) {
      const auto half = static_cast<u16>(x >> i);
      return double{brain ? emulator::numeric::bf16_to_f32(half) : emulator::numeric::f16_to_f32(half)};
    };
    const auto format = brain ? emulator::numeric::Format::bf16 : emulator::numeric::Format::f16;
    result |= emulator::numeric::nearest(format, f(value(a), value(b), value(c))) << i;
  }
  return result;
}

// Pairs of 16-bit numbers near 1, with patterns that are valid as f16 and as bf16.
Inputs near_one(std::mt19937_64& random) {
  const auto pair = [&] {
    const auto half = [&] { return 0x3c00 + (random() % 0x300) + ((random() % 2) << 15); };
    return half() | half() << 16;
  };
  return {pair(), pair(), pair()};
}

}  // namespace

TEST_CASE("Forms: pairs of f16 and bf16") {
  check_forms(
      {{"add.bf16x2 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64 c) { return pairwise(a, b, c, true, [](double p, double q, double) { return p + q; }); }},
       {"sub.f16x2 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64 c) { return pairwise(a, b, c, false, [](double p, double q, double) { return p - q; }); }},
       {"sub.rn.bf16x2 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64 c) { return pairwise(a, b, c, true, [](double p, double q, double) { return p - q; }); }},
       {"mul.f16x2 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64 c) { return pairwise(a, b, c, false, [](double p, double q, double) { return p * q; }); }},
       {"mul.bf16x2 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64 c) { return pairwise(a, b, c, true, [](double p, double q, double) { return p * q; }); }},
       {"fma.rn.bf16x2 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          return pairwise(a, b, c, true, [](double p, double q, double r) { return p * q + r; });
        }},
       {"fma.rn.relu.bf16x2 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          return pairwise(a, b, c, true, [](double p, double q, double r) { return std::max(p * q + r, 0.0); });
        }},
       {"min.f16x2 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          return pairwise(a, b, c, false, [](double p, double q, double) { return std::min(p, q); });
        }},
       {"min.bf16x2 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          return pairwise(a, b, c, true, [](double p, double q, double) { return std::min(p, q); });
        }},
       {"max.NaN.bf16x2 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          return pairwise(a, b, c, true, [](double p, double q, double) { return std::max(p, q); });
        }},
       {"abs.f16x2 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a & 0x7fff7fff; }},
       {"neg.bf16x2 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a ^ 0x80008000; }},
       {"cvt.rn.satfinite.e4m3x2.f16x2 %h1, @1; cvt.rn.f16x2.e4m3x2 #10, %h1;", 4, 4,
        [](u64 a, u64, u64) {
          u64 result = 0;
          for (int i = 0; i < 32; i += 16) {
            using namespace emulator::numeric;
            const double value = emulator::numeric::f16_to_f32(static_cast<u16>(a >> i));
            result |= nearest(Format::f16, value_of(Format::e4m3, nearest(Format::e4m3, value))) << i;
          }
          return result;
        }},
       {"mov.b32 {%h1, %h2}, @1; cvt.f32.f16 %f1, %h1; cvt.rn.bf16.f32 %h3, %f1; cvt.u32.u16 #10, %h3;", 4, 4,
        [](u64 a, u64, u64) {
          return emulator::numeric::nearest(emulator::numeric::Format::bf16,
                                            emulator::numeric::f16_to_f32(static_cast<u16>(a)));
        }}},
      near_one);
}

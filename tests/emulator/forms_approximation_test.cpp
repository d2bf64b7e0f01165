// Forms of approximations, against the host's functions in f64, within the errors that PTX ISA 9.0 permits.
#include <cmath>

#include "emulator/form_check.h"
#include "emulator/small_floats.h"

using namespace tma_jit;
using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;

namespace {

bool close_to(u64 got, double expected, double tolerance) {
  return std::fabs(double{f(got)} - expected) <= tolerance * std::max(std::fabs(expected), 0x1p-126);
}

}  // namespace

TEST_CASE("Forms: approximations are as close as PTX promises") {
  struct Approximation {
    const char* text;
    double (*function)(double);
    double low, high, tolerance;
  };
  // Tolerances are the maximum errors of PTX ISA 9.0, relative to the result or, for sines and logarithms, absolute.
  for (const Approximation& a :
       {Approximation{"rcp.approx.f32 %f2, %f1;", [](double v) { return 1 / v; }, 0.1, 50, 0x1p-23},
        {"rsqrt.approx.f32 %f2, %f1;", [](double v) { return 1 / std::sqrt(v); }, 0.1, 50, 0x1p-22},
        {"rsqrt.approx.ftz.f32 %f2, %f1;", [](double v) { return 1 / std::sqrt(v); }, 0.1, 50, 0x1p-22},
        {"rcp.approx.ftz.f32 %f2, %f1;", [](double v) { return 1 / v; }, 0.1, 50, 0x1p-23},
        {"sqrt.approx.ftz.f32 %f2, %f1;", [](double v) { return std::sqrt(v); }, 0.1, 50, 0x1p-22},
        {"ex2.approx.f32 %f2, %f1;", [](double v) { return std::exp2(v); }, -20, 20, 0x1p-21},
        {"lg2.approx.ftz.f32 %f2, %f1;", [](double v) { return std::log2(v); }, 2.5, 50, 0x1p-21},
        {"sin.approx.ftz.f32 %f2, %f1;", [](double v) { return std::sin(v); }, 0.2, 1.4, 0x1p-18},
        {"cos.approx.ftz.f32 %f2, %f1;", [](double v) { return std::cos(v); }, 0.2, 1.4, 0x1p-18},
        {"mov.f32 %f3, 0f40490FDB; div.full.f32 %f2, %f3, %f1;", [](double v) { return double{3.14159274F} / v; }, 0.1,
         50, 0x1p-21},
        {"mov.f32 %f3, 0f40490FDB; div.full.ftz.f32 %f2, %f3, %f1;", [](double v) { return double{3.14159274F} / v; },
         0.1, 50, 0x1p-21},
        {"mov.f32 %f3, 0f40490FDB; div.approx.f32 %f2, %f3, %f1;", [](double v) { return double{3.14159274F} / v; },
         0.1, 50, 0x1p-21},
        {"mov.f32 %f3, 0f40490FDB; div.approx.ftz.f32 %f2, %f3, %f1;", [](double v) { return double{3.14159274F} / v; },
         0.1, 50, 0x1p-21},
        {"sqrt.approx.f32 %f2, %f1;", [](double v) { return std::sqrt(v); }, 0.1, 50, 0x1p-22},
        {"ex2.approx.ftz.f32 %f2, %f1;", [](double v) { return std::exp2(v); }, -20, 20, 0x1p-21},
        {"lg2.approx.f32 %f2, %f1;", [](double v) { return std::log2(v); }, 2.5, 50, 0x1p-21},
        {"sin.approx.f32 %f2, %f1;", [](double v) { return std::sin(v); }, 0.2, 1.4, 0x1p-18},
        {"cos.approx.f32 %f2, %f1;", [](double v) { return std::cos(v); }, 0.2, 1.4, 0x1p-18},
        {"tanh.approx.f32 %f2, %f1;", [](double v) { return std::tanh(v); }, 0.1, 4, 0x1p-10}}) {
    CAPTURE(std::string(a.text));
    TestMemory memory(device_of("sm_100a"), 4096);
    for (int i = 0; i < 128; ++i) memory.as<float>()[i] = static_cast<float>(a.low + (a.high - a.low) * i / 127);
    const std::vector<float> inputs(memory.as<float>(), memory.as<float>() + 128);
    run_ptx(kernel_text(std::string("mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1; ld.global.f32 %f1, [%d2];") +
                            a.text + "st.global.f32 [%d2], %f2;",
                        "sm_100a"),
            memory, {.block = 128}, "sm_100a");
    for (std::size_t i = 0; i < 128; ++i) {
      CAPTURE(inputs[i]);
      CHECK(close_to(memory.as<u32>()[i], a.function(double{inputs[i]}), a.tolerance));
    }
  }
}

TEST_CASE("Forms: div.approx by more than 2^126 gives 0, and NaN of infinity") {
  const std::string large = "and.b32 @2, @2, 0x807fffff; or.b32 @2, @2, 0x7f000000; ";
  check_forms({{"and.b32 @1, @1, 0xbfffffff; " + large + "div.approx.f32 #10, @1, @2;", 4, 4,
                [](u64 a, u64 b, u64) { return (a ^ b) & 0x80000000; }},
               {large + "mov.b32 @1, 0x7f800000; div.approx.f32 #10, @1, @2;", 4, 4,
                [](u64, u64, u64) { return u64{0x7fffffff}; }},
               {"and.b32 @1, @1, 0xbfffffff; " + large + "div.full.f32 #10, @1, @2;", 4, 4,
                [](u64 a, u64 b, u64) { return bits(f(a & 0xbfffffff) / f((b & 0x807fffff) | 0x7f000000)); }}},
              any_bits);
}

TEST_CASE("Forms: arithmetic in f32 gives one NaN") {
  for (const char* operation :
       {"add.f32 #10, @1, @2;", "sub.f32 #10, @1, @2;", "mul.f32 #10, @1, @2;", "div.rn.f32 #10, @1, @2;",
        "fma.rn.f32 #10, @1, @2, @3;", "sqrt.rn.f32 #10, @1;", "rcp.rn.f32 #10, @1;", "ex2.approx.f32 #10, @1;"}) {
    check_forms(
        {{std::string("or.b32 @1, @1, 0xff800001; ") + operation, 4, 4, [](u64, u64, u64) { return u64{0x7fffffff}; }}},
        any_bits);
  }
  check_forms({{"mov.b32 @1, 0x7f800000; sub.f32 #10, @1, @1;", 4, 4, [](u64, u64, u64) { return u64{0x7fffffff}; }}},
              any_bits);
}

TEST_CASE("Forms: approximations in f64") {
  for (const auto& [text, function] :
       {std::pair{"rsqrt.approx.f64 %g2, %g1;", +[](double v) { return 1 / std::sqrt(v); }},
        {"rsqrt.approx.ftz.f64 %g2, %g1;", +[](double v) { return 1 / std::sqrt(v); }},
        {"rcp.approx.ftz.f64 %g2, %g1;", +[](double v) { return 1 / v; }}}) {
    CAPTURE(std::string(text));
    TestMemory memory(device_of("sm_100a"), 4096);
    for (int i = 0; i < 64; ++i) memory.as<double>()[i] = 0.001 * std::exp2(i % 40) * (1 + i / 64.0);
    const std::vector<double> inputs(memory.as<double>(), memory.as<double>() + 64);
    run_ptx(kernel_text(std::string("mul.wide.u32 %d1, %t, 8; add.s64 %d2, %base, %d1; ld.global.f64 %g1, [%d2];") +
                            text + "st.global.f64 [%d2], %g2;",
                        "sm_100a"),
            memory, {.block = 64}, "sm_100a");
    for (std::size_t i = 0; i < 64; ++i) {
      const double exact = function(inputs[i]);
      CHECK(std::fabs(memory.as<double>()[i] - exact) <= 0x1p-19 * exact);  // .ftz keeps the upper 32 bits
    }
  }
}

TEST_CASE("Forms: approximations in 16 bits are as close as PTX promises") {
  struct Approximation {
    const char* text;
    bool brain;
    double (*function)(double);
    double
        tolerance;  // maximum errors of PTX ISA 9.0: relative for ex2, absolute for tanh; plus a rounding to the format
  };
  const auto power = [](double x) { return std::exp2(x); };
  const auto tangent = [](double x) { return std::tanh(x); };
  for (const Approximation& a :
       {Approximation{"ex2.approx.f16 %h10, %h1; mov.b32 %r10, {%h10, %h10};", false, power, 0x1p-9},
        {"ex2.approx.f16x2 %r10, %r1;", false, power, 0x1p-9},
        {"ex2.approx.ftz.bf16 %h10, %h1; mov.b32 %r10, {%h10, %h10};", true, power, 0x1p-6},
        {"ex2.approx.ftz.bf16x2 %r10, %r1;", true, power, 0x1p-6},
        {"tanh.approx.f16 %h10, %h1; mov.b32 %r10, {%h10, %h10};", false, tangent, 0x1p-10},
        {"tanh.approx.f16x2 %r10, %r1;", false, tangent, 0x1p-10},
        {"tanh.approx.bf16 %h10, %h1; mov.b32 %r10, {%h10, %h10};", true, tangent, 0x1p-7},
        {"tanh.approx.bf16x2 %r10, %r1;", true, tangent, 0x1p-7}}) {
    CAPTURE(std::string(a.text));
    TestMemory memory(device_of("sm_100a"), 4096);
    const auto code = [&](u32 thread) { return 0x3a00 + thread % 128 * 5 + (thread % 2 << 15); };
    run_ptx(
        kernel_text("rem.u32 %r2, %t, 128; and.b32 %r3, %t, 1; shl.b32 %r3, %r3, 15; mad.lo.u32 %r2, %r2, 5, 14848;\n"
                    "or.b32 %r2, %r2, %r3; mov.b32 {%h1, %h2}, %r2; mov.b32 %r1, {%h1, %h1};\n" +
                        std::string(a.text) +
                        "mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1; st.global.u32 [%d2], %r10;",
                    "sm_100a"),
        memory, {.block = 128}, "sm_100a");
    const SmallFloat& format = a.brain ? bf16_format() : f16_format();
    for (u32 thread = 0; thread < 128; ++thread) {
      const double exact = a.function(format.value(code(thread)));
      const u32 got = memory.as<u32>()[thread];
      CAPTURE(exact);
      CHECK((got >> 16) == (got & 0xffff));
      CHECK(std::fabs(format.value(got & 0xffff) - exact) <= a.tolerance * std::max(1.0, std::fabs(exact)));
    }
  }
}

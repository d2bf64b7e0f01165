// Forms of f16 and bf16 arithmetic, alone and in pairs, with every modifier, against sums and products that are exact
// in f64 and a table of the format's values.
#include "emulator/form_check.h"
#include "emulator/small_floats.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;

namespace {

struct Type {
  const char* name;
  bool brain;
  const SmallFloat& format() const { return brain ? bf16_format() : f16_format(); }
};
constexpr Type kTypes[] = {{"f16", false}, {"bf16", true}};

double flushed(double x) {
  return std::fabs(x) < 0x1p-14 ? std::copysign(0.0, x) : x;
}

struct Operation {
  const char* name;
  const char* operands;
  std::vector<const char*> f16, bf16;  // modifiers
  double (*compute)(double, double, double);
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"add",
       "@1, @2",
       {"", ".rn", ".ftz", ".sat", ".rn.ftz.sat"},
       {"", ".rn"},
       [](double a, double b, double) { return a + b; }},
      {"sub",
       "@1, @2",
       {"", ".rn", ".ftz", ".sat", ".rn.ftz.sat"},
       {"", ".rn"},
       [](double a, double b, double) { return a - b; }},
      {"mul",
       "@1, @2",
       {"", ".rn", ".ftz", ".sat", ".rn.ftz.sat"},
       {"", ".rn"},
       [](double a, double b, double) { return a * b; }},
      {"fma",
       "@1, @2, @3",
       {".rn", ".rn.ftz", ".rn.sat", ".rn.relu", ".rn.ftz.relu"},
       {".rn", ".rn.relu"},
       [](double a, double b, double c) { return a * b + c; }},
      {"min",
       "@1, @2",
       {"", ".ftz", ".NaN", ".ftz.NaN"},
       {"", ".NaN"},
       [](double a, double b, double) { return a == b ? (std::signbit(a) ? a : b) : std::min(a, b); }},
      {"max", "@1, @2", {"", ".ftz", ".NaN", ".ftz.NaN"}, {"", ".NaN"}, [](double a, double b, double) {
         return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
       }}};
  return all;
}

// Computes one element. f16 subnormals are flushed in operands and result; a zero result has the sign of the sum.
u64 expected_of(const Type& type, const Operation& operation, const std::string& modifiers, u64 a, u64 b, u64 c) {
  const bool flushes = has(modifiers, "ftz");
  const auto value = [&](u64 x) {
    const double exact = type.format().value(static_cast<u32>(x & 0xffff));
    return flushes ? flushed(exact) : exact;
  };
  double x = operation.compute(value(a), value(b), value(c));
  if (has(modifiers, "sat")) x = x > 1 ? 1 : x > 0 ? x : 0;
  if (has(modifiers, "relu")) x = x > 0 ? x : 0;
  const u32 code = type.format().code(x);
  return flushes && std::fabs(type.format().value(code)) < 0x1p-14 ? code & 0x8000 : code;
}

// Numbers near one, and for f16 some subnormals; never two zeros, between which min and max may choose.
template <bool kBrain> Inputs halves(std::mt19937_64& random) {
  const auto half = [&]() -> u64 {
    const u64 sign = (random() % 2) << 15;
    if (!kBrain && random() % 4 == 0) return (1 + random() % 0x3ff) | sign;
    return (kBrain ? 0x3e80 + random() % 0x280 : 0x3400 + random() % 0x1000) | sign;
  };
  const auto pair = [&] { return half() | half() << 16; };
  return {pair(), pair(), pair()};
}

}  // namespace

TEST_CASE("Forms: f16 and bf16 arithmetic with every modifier") {
  for (const Type& type : kTypes) {
    std::vector<Form> forms;
    for (const Operation& operation : operations())
      for (const std::string modifiers : type.brain ? operation.bf16 : operation.f16) {
        const auto element = [=](u64 a, u64 b, u64 c) { return expected_of(type, operation, modifiers, a, b, c); };
        const std::string text = std::string(operation.name) + modifiers + "." + type.name;
        forms.push_back({text + " #10, " + operation.operands + ";", 2, 2, element});
        forms.push_back({text + "x2 #10, " + operation.operands + ";", 4, 4, [element](u64 a, u64 b, u64 c) {
                           return element(a, b, c) | element(a >> 16, b >> 16, c >> 16) << 16;
                         }});
      }
    const std::string t = type.name;
    forms.push_back({"neg." + t + " #10, @1;", 2, 2, [](u64 a, u64, u64) { return a ^ 0x8000; }});
    forms.push_back({"abs." + t + " #10, @1;", 2, 2, [](u64 a, u64, u64) { return a & 0x7fff; }});
    forms.push_back({"neg." + t + "x2 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a ^ 0x80008000; }});
    forms.push_back({"abs." + t + "x2 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a & 0x7fff7fff; }});
    check_forms(forms, type.brain ? halves<true> : halves<false>);
  }
}

TEST_CASE("Forms: NaN among f16 and bf16 is passed over by min and max, or with .NaN is the result") {
  for (const Type& type : kTypes) {
    const std::string t = type.name;
    const u64 nan = type.brain ? 0x7fc0 : 0x7e00;
    std::vector<Form> forms;
    for (const char* name : {"min", "max"}) {
      const std::string set = "mov.b16 @2, " + std::to_string(nan) + "; ";
      forms.push_back({set + name + "." + t + " #10, @1, @2;", 2, 2, [](u64 a, u64, u64) { return a; }});
      forms.push_back({set + name + ".NaN." + t + " #10, @1, @2;", 2, 2, [](u64, u64, u64) { return u64{0x7fff}; }});
    }
    check_forms(forms, type.brain ? halves<true> : halves<false>);
  }
}

TEST_CASE("Forms: conversions to f16 and bf16 in every rounding, from f64, integers and to whole numbers") {
  using To = SmallFloat::To;
  struct Rounding {
    const char* name;
    To to;
    double (*whole)(double);
  };
  static constexpr Rounding kRoundings[] = {{"n", To::nearest, [](double x) { return std::nearbyint(x); }},
                                            {"z", To::zero, [](double x) { return std::trunc(x); }},
                                            {"m", To::down, [](double x) { return std::floor(x); }},
                                            {"p", To::up, [](double x) { return std::ceil(x); }}};
  for (const Type& type : kTypes) {
    const std::string t = type.name;
    std::vector<Form> halfs, integers, doubles;
    for (const Rounding& r : kRoundings) {
      const std::string n = r.name;
      halfs.push_back({"cvt.r" + n + "i." + t + "." + t + " #10, @1;", 2, 2, [=](u64 a, u64, u64) {
                         return u64{type.format().code(r.whole(type.format().value(static_cast<u32>(a))))};
                       }});
      integers.push_back({"cvt.r" + n + "." + t + ".s32 %h5, @1; cvt.u32.u16 #10, %h5;", 4, 4,
                          [=](u64 a, u64, u64) { return u64{type.format().code(static_cast<double>(s(a)), r.to)}; }});
      doubles.push_back({"cvt.r" + n + "." + t + ".f64 %h5, @1; cvt.u64.u16 #10, %h5;", 8, 8,
                         [=](u64 a, u64, u64) { return u64{type.format().code(g(a), r.to)}; }});
    }
    halfs.push_back({"cvt.rn." + t + ".s16 #10, @1;", 2, 2,
                     [=](u64 a, u64, u64) { return u64{type.format().code(static_cast<std::int16_t>(a))}; }});
    if (!type.brain) {
      halfs.push_back({"cvt.rn." + t + ".u8 #10, @1;", 2, 2,
                       [=](u64 a, u64, u64) { return u64{type.format().code(static_cast<double>(a & 255))}; }});
      halfs.push_back({"cvt.rn." + t + ".s8 #10, @1;", 2, 2,
                       [=](u64 a, u64, u64) { return u64{type.format().code(static_cast<std::int8_t>(a))}; }});
    }
    check_forms(halfs, type.brain ? halves<true> : halves<false>);
    const auto moderate = [](std::mt19937_64& random) -> Inputs { return {random() % 100000 - 50000, 0, 0}; };
    check_forms(integers, moderate);
    check_forms(doubles, [](std::mt19937_64& random) -> Inputs {
      return {bits(std::ldexp(static_cast<double>(static_cast<s64>(random()) >> 11), -60)), 0, 0};
    });
  }
  check_forms({{"mov.b32 %f1, @1; cvt.rzi.ftz.s32.f32 #10, %f1;", 4, 4,
                [](u64 a, u64, u64) { return u64{static_cast<u32>(static_cast<s32>(f(a)))}; }}},
              [](std::mt19937_64& random) -> Inputs {
                return {bits(static_cast<float>(static_cast<s32>(random() % 200000) - 100000) / 8), 0, 0};
              });
  check_forms(
      {{"cvt.ftz.sat.f32.f16 %f1, @1; mov.b32 #10, %f1;", 2, 4,
        [](u64 a, u64, u64) {
          const double x = f16_format().value(static_cast<u32>(a));
          return bits(static_cast<float>(x > 1 ? 1 : x > 0 ? x : 0));
        }},
       {"cvt.rzi.s8.f16 #10, @1;", 2, 2,
        [](u64 a, u64, u64) {
          return static_cast<u64>(
              static_cast<s64>(std::clamp(std::trunc(f16_format().value(static_cast<u32>(a))), -128.0, 127.0)));
        }},
       {"cvt.rni.sat.u8.f16 #10, @1;", 2, 2,
        [](u64 a, u64, u64) {
          return static_cast<u64>(std::clamp(std::nearbyint(f16_format().value(static_cast<u32>(a))), 0.0, 255.0));
        }}},
      halves<false>);
  check_forms({{"cvt.rzi.f32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(std::trunc(f(a))); }},
               {"cvt.rmi.f32.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(std::floor(f(a))); }},
               {"cvt.rn.ftz.f16.f32 %h5, @1; cvt.u32.u16 #10, %h5;", 4, 4,
                [](u64 a, u64, u64) { return u64{f16_format().code(double{f(a)})}; }},
               {"cvt.rn.sat.f32.s32 #10, @2;", 4, 4, [](u64, u64 b, u64) { return bits(s(b) > 0 ? 1.0F : 0.0F); }}},
              [](std::mt19937_64& random) -> Inputs {
                const float x = std::ldexp(static_cast<float>(static_cast<s32>(random() % 65536) - 32768), -10);
                return {bits(x), random() % 5 - 2, 0};
              });
}

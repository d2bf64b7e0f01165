// Forms of f32 and f64 arithmetic with every rounding, flushing and saturation, against the host's arithmetic in the
// same rounding mode; comparisons and classes of floats.
#include <cfenv>
#include <cmath>

#include "emulator/form_check.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;

namespace {

struct Rounding {
  const char* name;
  int mode;
};
constexpr Rounding kRoundings[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

template <class T> T value_of(u64 x) {
  if constexpr (sizeof(T) == 4)
    return f(x);
  else
    return g(x);
}

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

// Evaluates f with volatile operands, so that it is evaluated in the current rounding mode.
template <class T, class F> T rounded(int mode, F f, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile T result = f(x, y, z);
  std::fesetround(before);
  return result;
}

template <class T> struct Operation {
  const char* name;
  const char* operands;
  T (*compute)(T a, T b, T c);
};
template <class T> const std::vector<Operation<T>>& operations() {
  static const std::vector<Operation<T>> all = {
      {"add", "@1, @2", [](T a, T b, T) -> T { return a + b; }},
      {"sub", "@1, @2", [](T a, T b, T) -> T { return a - b; }},
      {"mul", "@1, @2", [](T a, T b, T) -> T { return a * b; }},
      {"fma", "@1, @2, @3", [](T a, T b, T c) -> T { return std::fma(a, b, c); }},
      {"mad", "@1, @2, @3", [](T a, T b, T c) -> T { return std::fma(a, b, c); }},
      {"div", "@1, @2", [](T a, T b, T) -> T { return a / b; }},
      {"rcp", "@1", [](T a, T, T) -> T { return 1 / a; }},
      {"sqrt", "@1", [](T a, T, T) -> T { return std::sqrt(a); }}};
  return all;
}

// Positive and negative numbers, some subnormal, such that no operation overflows or yields NaN.
template <class T> u64 number(std::mt19937_64& random, bool positive) {
  const T mantissa = 1 + static_cast<T>(random() % (1U << 20)) / (1U << 20);
  const int exponent = random() % 6 == 0 && sizeof(T) == 4 ? -static_cast<int>(random() % 12) - 124
                                                           : static_cast<int>(random() % 20) - 10;
  const T x = std::ldexp(mantissa, exponent);
  return bits(positive || random() % 2 == 0 ? x : -x);
}
template <class T> Inputs numbers(std::mt19937_64& random) {
  return {number<T>(random, false), number<T>(random, false), number<T>(random, false)};
}
template <class T> Inputs positives(std::mt19937_64& random) {
  return {number<T>(random, true), number<T>(random, true), number<T>(random, true)};
}

template <class T>
Form form_of(const Operation<T>& operation, const Rounding& rounding, const std::string& suffix, const char* type) {
  const std::string text =
      std::string(operation.name) + rounding.name + suffix + "." + type + " #10, " + operation.operands + ";";
  const bool flushes = has(suffix, "ftz"), saturates = has(suffix, "sat");
  return {text, sizeof(T), sizeof(T), [operation, rounding, flushes, saturates](u64 a, u64 b, u64 c) {
            T x = value_of<T>(a), y = value_of<T>(b), z = value_of<T>(c);
            if constexpr (sizeof(T) == 4)
              if (flushes) x = flushed(x), y = flushed(y), z = flushed(z);
            T result = rounded(rounding.mode, operation.compute, x, y, z);
            if constexpr (sizeof(T) == 4) {
              if (flushes) result = flushed(result);
              if (result != result) return u64{0x7fffffff};
            }
            if (saturates) result = result > 1 ? T{1} : result > 0 ? result : T{0};
            return bits(result);
          }};
}

}  // namespace

TEST_CASE("Forms: f32 in every rounding, flushed and saturated") {
  for (const Operation<float>& operation : operations<float>()) {
    const std::string name = operation.name;
    const bool plain = name == "div" || name == "rcp" || name == "sqrt";
    std::vector<Form> forms;
    for (const Rounding& rounding : kRoundings)
      for (const char* suffix : {"", ".ftz", ".sat", ".ftz.sat"})
        if (!plain || !has(suffix, "sat")) forms.push_back(form_of(operation, rounding, suffix, "f32"));
    check_forms(forms, name == "sqrt" ? positives<float> : numbers<float>);
  }
}

TEST_CASE("Forms: f64 in every rounding") {
  for (const Operation<double>& operation : operations<double>()) {
    std::vector<Form> forms;
    for (const Rounding& rounding : kRoundings) forms.push_back(form_of(operation, rounding, "", "f64"));
    check_forms(forms, std::string(operation.name) == "sqrt" ? positives<double> : numbers<double>);
  }
}

TEST_CASE("Forms: pairs of f32 in every rounding, flushed or not") {
  for (const Operation<float>& operation : operations<float>()) {
    const std::string name = operation.name;
    if (name != "add" && name != "sub" && name != "mul" && name != "fma") continue;
    std::vector<Form> forms;
    for (const Rounding& rounding : kRoundings)
      for (const char* suffix : {"", ".ftz"}) {
        Form form = form_of(operation, rounding, suffix, "f32x2");
        form.from = form.to = 8;
        const auto half = form.expected;
        form.expected = [half](u64 a, u64 b, u64 c) { return half(a, b, c) | half(a >> 32, b >> 32, c >> 32) << 32; };
        forms.push_back(form);
      }
    check_forms(forms, [](std::mt19937_64& random) -> Inputs {
      const auto pair = [&] { return number<float>(random, false) | number<float>(random, false) << 32; };
      return {pair(), pair(), pair()};
    });
  }
}

TEST_CASE("Forms: least, greatest, magnitude and sign of floats, with NaN and flushed") {
  const auto combine = [](bool greatest, bool flushes, bool nan) {
    return [=](u64 a, u64 b, u64) -> u64 {
      float x = f(a), y = f(b);
      if (flushes) x = flushed(x), y = flushed(y);
      if (std::isnan(x) || std::isnan(y)) {
        if (nan || (std::isnan(x) && std::isnan(y))) return 0x7fffffff;
        return bits(std::isnan(x) ? y : x);
      }
      if (x == 0 && y == 0) return greatest ? bits(x) & bits(y) : bits(x) | bits(y);  // -0 is less than +0
      return bits(greatest ? std::max(x, y) : std::min(x, y));
    };
  };
  std::vector<Form> forms;
  for (const bool greatest : {false, true})
    for (const char* suffix : {"", ".ftz", ".NaN", ".ftz.NaN"})
      forms.push_back({std::string(greatest ? "max" : "min") + suffix + ".f32 #10, @1, @2;", 4, 4,
                       combine(greatest, has(suffix, "ftz"), has(suffix, "NaN"))});
  forms.push_back({"abs.ftz.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(std::fabs(flushed(f(a)))); }});
  forms.push_back({"neg.ftz.f32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return bits(-flushed(f(a))); }});
  check_forms(forms, [](std::mt19937_64& random) -> Inputs {
    const auto one = [&]() -> u64 {
      switch (random() % 6) {
        case 0: return 0x7fc00000;
        case 1: return (random() % 2) << 31;
        case 2: return random() % 0x800000 | (random() % 2) << 31;  // subnormal
        default: return number<float>(random, false);
      }
    };
    Inputs in = {one(), one(), 0};
    if (std::isnan(f(in.a))) in.a = 0x7fc00000;
    return in;
  });
  check_forms({{"copysign.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return bits(std::copysign(g(b), g(a))); }}},
              numbers<double>);
}

namespace {

enum class Class { nan, infinite, normal, subnormal, zero };

struct Layout {
  const char* type;
  int bytes, mantissa;
};
Class class_of(const Layout& l, u64 x) {
  const u64 all = (u64{1} << (8 * l.bytes - 1 - l.mantissa)) - 1;
  const u64 exponent = x >> l.mantissa & all, fraction = x & ((u64{1} << l.mantissa) - 1);
  if (exponent == all) return fraction != 0 ? Class::nan : Class::infinite;
  if (exponent == 0) return fraction != 0 ? Class::subnormal : Class::zero;
  return Class::normal;
}
// Compares numbers by their bits, which are ordered.
int order_of(const Layout& l, u64 a, u64 b, bool flushes) {
  const auto key = [&](u64 x) -> s64 {
    const u64 magnitude = low(x, l.bytes) & ((u64{1} << (8 * l.bytes - 1)) - 1);
    const Class c = class_of(l, x);
    if (c == Class::zero || (flushes && c == Class::subnormal)) return 0;
    return (x >> (8 * l.bytes - 1) & 1) != 0 ? -static_cast<s64>(magnitude) : static_cast<s64>(magnitude);
  };
  return key(a) < key(b) ? -1 : key(a) == key(b) ? 0 : 1;
}

constexpr Layout kLayouts[] = {{"f16", 2, 10}, {"bf16", 2, 7}, {"f32", 4, 23}, {"f64", 8, 52}};

struct Comparison {
  const char* name;
  bool less, equal, greater, unordered;
};
constexpr Comparison kComparisons[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},  {"lt", true, false, false, false},
    {"le", true, true, false, false},  {"gt", false, false, true, false}, {"ge", false, true, true, false},
    {"equ", false, true, false, true}, {"neu", true, false, true, true},  {"ltu", true, false, false, true},
    {"leu", true, true, false, true},  {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};

Inputs close_floats(std::mt19937_64& random) {
  Inputs in = any_bits(random);
  static constexpr u64 kSpecial[] = {0,
                                     0x8000000000000000,
                                     0x7ff0000000000000,
                                     0x7fc000007f807f80,
                                     0x0001000100010001,
                                     0x7e007fc07fc07fff,
                                     0x7c007f800000ff80,
                                     1,
                                     0x3c003f803f803c00};
  if (random() % 2 == 0) in.a = kSpecial[random() % std::size(kSpecial)];
  if (random() % 2 == 0) in.b = kSpecial[random() % std::size(kSpecial)];
  if (random() % 3 == 0) in.b = in.a;
  return in;
}

}  // namespace

TEST_CASE("Forms: comparisons of floats of every type") {
  for (const Layout& l : kLayouts)
    for (const char* flush : {"", ".ftz"}) {
      const bool flushes = *flush != '\0';
      const std::string t = l.type, bits = std::to_string(8 * l.bytes);
      if (flushes && (l.bytes == 8 || t == "bf16")) continue;
      std::vector<Form> forms;
      for (const Comparison& c : kComparisons) {
        const auto holds = [=](u64 a, u64 b) {
          if (class_of(l, a) == Class::nan || class_of(l, b) == Class::nan) return c.unordered;
          const int order = order_of(l, a, b, flushes);
          return order < 0 ? c.less : order == 0 ? c.equal : c.greater;
        };
        const std::string name = c.name;
        forms.push_back({"and.b" + bits + " @3, @3, 1; setp.eq.b" + bits + " %p3, @3, 0; setp." + name + flush + "." +
                             t + " %p1, @1, @2; setp." + name + ".and" + flush + "." + t + " %p2, @1, @2, %p3; setp." +
                             name + ".or" + flush + "." + t + " %p4, @1, @2, %p3; setp." + name + ".xor" + flush + "." +
                             t + " %p5, @1, @2, %p3; selp.b" + bits + " #10, 1, 0, %p1;" + more(bits),
                         l.bytes, l.bytes, [holds](u64 a, u64 b, u64 d) {
                           const bool h = holds(a, b), p = (d & 1) == 0;
                           return u64{h} | u64{h && p} << 1 | u64{h || p} << 2 | u64{h != p} << 3;
                         }});
        if (l.bytes == 2 || flushes || name.size() > 2) continue;
        forms.push_back({"set." + name + ".u32." + t + " %r5, @1, @2; " +
                             (l.bytes == 8 ? "cvt.u64.u32 #10, %r5;" : "mov.b32 #10, %r5;"),
                         l.bytes, l.bytes, [holds](u64 a, u64 b, u64) { return holds(a, b) ? u64{0xffffffff} : 0; }});
      }
      check_forms(forms, close_floats);
    }
}

TEST_CASE("Forms: classes of floats, and choices between them") {
  for (const Layout& l : {kLayouts[2], kLayouts[3]}) {
    const std::string t = l.type, bits = std::to_string(8 * l.bytes);
    const auto asks = [&](const char* name, std::function<bool(Class)> holds) -> Form {
      return {std::string("testp.") + name + "." + t + " %p1, @1; selp.b" + bits + " #10, 1, 0, %p1;", l.bytes, l.bytes,
              [l, holds](u64 a, u64, u64) { return u64{holds(class_of(l, a))}; }};
    };
    check_forms({asks("finite", [](Class c) { return c != Class::nan && c != Class::infinite; }),
                 asks("infinite", [](Class c) { return c == Class::infinite; }),
                 asks("number", [](Class c) { return c != Class::nan; }),
                 asks("notanumber", [](Class c) { return c == Class::nan; }),
                 asks("normal", [](Class c) { return c == Class::normal; }),
                 asks("subnormal", [](Class c) { return c == Class::subnormal; }),
                 {"setp.lt.s" + bits + " %p1, @1, 0; selp." + t + " #10, @2, @3, %p1; mov." + t + " @1, #10; mov." + t +
                      " #10, @1;",
                  l.bytes, l.bytes, [l](u64 a, u64 b, u64 c) { return (a >> (8 * l.bytes - 1) & 1) != 0 ? b : c; }}},
                close_floats);
  }
}

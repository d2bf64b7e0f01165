// Integer and logic forms in every type, against the host's arithmetic in that type.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "emulator/form_check.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;

namespace {

template <class T> T as(u64 x) {
  return static_cast<T>(x);
}
template <class T> u64 bits_of(T x) {
  return static_cast<u64>(x);
}
// Arithmetic modulo 2^N.
template <class T, class F> u64 wrapped(F f, u64 a, u64 b, u64 c) {
  using U = std::make_unsigned_t<T>;
  return bits_of(static_cast<U>(f(u64{as<U>(a)}, u64{as<U>(b)}, u64{as<U>(c)})));
}

// Shift amounts are 32-bit registers; divisors are from 1 to 63.
std::string amount(int bytes) {
  const std::string bits = std::to_string(8 * bytes);
  return (bytes == 4 ? "mov.b32 %r5, @2; " : "cvt.u32.u" + bits + " %r5, @2; ") + "and.b32 %r5, %r5, 127; ";
}

template <class T> void check_integers(const std::string& type) {
  constexpr int kBytes = sizeof(T);
  const std::string bits = std::to_string(8 * kBytes);
  const std::string divisor = "and.b" + bits + " @2, @2, 62; or.b" + bits + " @2, @2, 1; ";
  std::vector<Form> forms;
  const auto add = [&](const std::string& text, std::function<u64(u64, u64, u64)> expected) {
    forms.push_back({text, kBytes, kBytes, std::move(expected)});
  };
  const auto wraps = [&](const std::string& text, auto f) {
    add(text, [f](u64 a, u64 b, u64 c) { return wrapped<T>(f, a, b, c); });
  };
  wraps("add." + type + " #10, @1, @2;", [](u64 a, u64 b, u64) { return a + b; });
  wraps("sub." + type + " #10, @1, @2;", [](u64 a, u64 b, u64) { return a - b; });
  wraps("mul.lo." + type + " #10, @1, @2;", [](u64 a, u64 b, u64) { return a * b; });
  wraps("mad.lo." + type + " #10, @1, @2, @3;", [](u64 a, u64 b, u64 c) { return a * b + c; });
  const auto high = [](u64 a, u64 b) {
    return static_cast<u64>(static_cast<__int128>(as<T>(a)) * static_cast<__int128>(as<T>(b)) >> (8 * kBytes));
  };
  add("mul.hi." + type + " #10, @1, @2;", [high](u64 a, u64 b, u64) { return high(a, b); });
  if (type == "u32" || type == "s32" || type == "u64")
    add("mad.hi." + type + " #10, @1, @2, @3;", [high](u64 a, u64 b, u64 c) { return high(a, b) + c; });
  add("min." + type + " #10, @1, @2;", [](u64 a, u64 b, u64) { return bits_of(std::min(as<T>(a), as<T>(b))); });
  add("max." + type + " #10, @1, @2;", [](u64 a, u64 b, u64) { return bits_of(std::max(as<T>(a), as<T>(b))); });
  add(divisor + "div." + type + " #10, @1, @2;",
      [](u64 a, u64 b, u64) { return bits_of(static_cast<T>(as<T>(a) / static_cast<T>((b & 62) | 1))); });
  add(divisor + "rem." + type + " #10, @1, @2;",
      [](u64 a, u64 b, u64) { return bits_of(static_cast<T>(as<T>(a) % static_cast<T>((b & 62) | 1))); });
  add(amount(kBytes) + "shr." + type + " #10, @1, %r5;", [](u64 a, u64 b, u64) {
    const u64 by = std::min<u64>(low(b, kBytes) & 127, 8 * kBytes);
    const auto wide = static_cast<__int128>(as<T>(a));
    return static_cast<u64>(wide >> by);
  });
  if (std::numeric_limits<T>::is_signed) {
    wraps("neg." + type + " #10, @1;", [](u64 a, u64, u64) { return 0 - a; });
    add("abs." + type + " #10, @1;", [](u64 a, u64, u64) { return as<T>(a) < 0 ? 0 - a : a; });
  }
  check_forms(forms, any_bits);
}

}  // namespace

TEST_CASE("Forms: integer arithmetic in every type") {
  check_integers<u16>("u16");
  check_integers<std::int16_t>("s16");
  check_integers<u32>("u32");
  check_integers<s32>("s32");
  check_integers<u64>("u64");
  check_integers<s64>("s64");
}

TEST_CASE("Forms: wide products of 16 bits, 24-bit products, carries of every type, signed halves") {
  check_forms(
      {{"cvt.u32.u16 %r5, @3; mad.wide.u16 #10, @1, @2, %r5;", 2, 4, [](u64 a, u64 b, u64 c) { return a * b + c; }},
       {"cvt.s32.s16 %r5, @3; mad.wide.s16 #10, @1, @2, %r5;", 2, 4,
        [](u64 a, u64 b, u64 c) {
          return static_cast<u64>(s64{as<std::int16_t>(a)} * as<std::int16_t>(b) + as<std::int16_t>(c));
        }},
       {"mul24.lo.s32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) {
          const auto narrow = [](u64 x) { return s64{s(x << 8) >> 8}; };
          return static_cast<u64>(narrow(a) * narrow(b));
        }},
       {"dp2a.lo.s32.s32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          return c + static_cast<u64>(s64{as<std::int16_t>(a)} * as<std::int8_t>(b) +
                                      s64{as<std::int16_t>(a >> 16)} * as<std::int8_t>(b >> 8));
        }},
       {"dp2a.hi.s32.s32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          return c + static_cast<u64>(s64{as<std::int16_t>(a)} * as<std::int8_t>(b >> 16) +
                                      s64{as<std::int16_t>(a >> 16)} * as<std::int8_t>(b >> 24));
        }}},
      any_bits);
  for (const auto& [type, bytes] : {std::pair{"u32", 4}, {"s32", 4}, {"u64", 8}, {"s64", 8}}) {
    const std::string t = type, r = bytes == 4 ? "%r" : "%d";
    const auto mask = [bytes = bytes](unsigned __int128 x) { return bytes == 4 ? x & 0xffffffff : x & ~u64{0}; };
    // The high part of a sum and of a difference of two three-word numbers: 1 and @1, @2, @3.
    check_forms(
        {{"add.cc." + t + " " + r + "11, @1, @2; addc.cc." + t + " " + r + "12, @2, @3; addc." + t + " #10, @3, @1;",
          bytes, bytes,
          [mask, bytes = bytes](u64 a, u64 b, u64 c) {
            const auto carry = [bytes](unsigned __int128 x) { return static_cast<u64>(x >> (8 * bytes)); };
            const unsigned __int128 one = 1;
            const u64 first = carry(one * a + b), second = carry(one * b + c + first);
            return static_cast<u64>(mask(one * c + a + second));
          }},
         {"sub.cc." + t + " " + r + "11, @1, @2; subc.cc." + t + " " + r + "12, @2, @3; subc." + t + " #10, @3, @1;",
          bytes, bytes,
          [](u64 a, u64 b, u64 c) {
            const u64 first = a < b ? 1 : 0;
            const u64 second = b < c || b - c < first ? 1 : 0;
            return c - a - second;
          }}},
        any_bits);
    // Words of sums of the halves of a * b and of c, and the carries out of them.
    const bool is_signed = t[0] == 's';
    const auto half = [mask, is_signed, bytes = bytes](u64 a, u64 b, bool upper) {
      const int unused = 64 - 8 * bytes;
      const auto wide = [unused](u64 x) { return static_cast<__int128>(static_cast<s64>(x << unused) >> unused); };
      const auto plain = [unused](u64 x) { return static_cast<unsigned __int128>(x << unused >> unused); };
      const unsigned __int128 product =
          is_signed ? static_cast<unsigned __int128>(wide(a) * wide(b)) : plain(a) * plain(b);
      return mask(upper ? product >> (8 * bytes) : product);
    };
    const auto carry = [bytes = bytes](unsigned __int128 sum) { return sum >> (8 * bytes); };
    const std::string low = "mad.lo.cc." + t + " " + r + "11, @1, @2, @3; ";
    check_forms(
        {{low + "madc.hi." + t + " #10, @1, @2, @3;", bytes, bytes,
          [=](u64 a, u64 b, u64 c) {
            return static_cast<u64>(mask(half(a, b, true) + c + carry(half(a, b, false) + c)));
          }},
         {low + "madc.hi.cc." + t + " " + r + "12, @1, @2, @3; madc.lo." + t + " #10, @1, @2, @3;", bytes, bytes,
          [=](u64 a, u64 b, u64 c) {
            const auto middle = half(a, b, true) + c + carry(half(a, b, false) + c);
            return static_cast<u64>(mask(half(a, b, false) + c + carry(middle)));
          }},
         {"mad.hi.cc." + t + " " + r + "11, @1, @2, @3; madc.lo.cc." + t + " " + r + "12, @1, @2, @3; addc." + t +
              " #10, @3, @1;",
          bytes, bytes,
          [=](u64 a, u64 b, u64 c) {
            const auto second = half(a, b, false) + c + carry(half(a, b, true) + c);
            return static_cast<u64>(mask(static_cast<unsigned __int128>(c) + a + carry(second)));
          }}},
        any_bits);
  }
}

namespace {

// Applies f to each part of `bits` bits of a and b, sign-extended if they are of a signed type.
template <class F> u64 each_part(u64 a, u64 b, int bits, bool is_signed, F f) {
  u64 result = 0;
  for (int at = 0; at < 32; at += bits) {
    const auto part = [&](u64 x) {
      const s64 top = static_cast<s64>(x << (64 - at - bits));
      return is_signed ? top >> (64 - bits) : static_cast<s64>(static_cast<u64>(top) >> (64 - bits));
    };
    result |= (static_cast<u64>(f(part(a), part(b))) & ((u64{1} << bits) - 1)) << at;
  }
  return result;
}

// Counts bits of a from bit `from` on, as a loop over text would.
u64 nth_set_bit(u64 a, u64 from, s64 nth) {
  std::vector<u64> found;
  for (s64 bit = static_cast<s64>(from); bit >= 0 && bit < 32; bit += nth < 0 ? -1 : 1) {
    if ((a >> bit & 1) != 0) found.push_back(static_cast<u64>(bit));
  }
  if (nth == 0) return from < 32 && (a >> from & 1) != 0 ? from : 0xffffffff;
  const u64 index = static_cast<u64>(std::abs(nth)) - 1;
  return index < found.size() ? found[index] : 0xffffffff;
}

}  // namespace

TEST_CASE("Forms: packed integers, saturation, absolute differences of parts, the n-th bit that is set") {
  std::vector<Form> forms;
  const auto add = [&](const std::string& text, std::function<u64(u64, u64, u64)> expected) {
    forms.push_back({text, 4, 4, std::move(expected)});
  };
  const auto least = [](s64 a, s64 b) { return std::min(a, b); };
  const auto most = [](s64 a, s64 b) { return std::max(a, b); };
  const auto rectified = [](s64 x) { return std::max<s64>(x, 0); };
  const auto clamped = [](s64 x) { return static_cast<u64>(std::clamp<s64>(x, -s64{0x80000000}, 0x7fffffff)); };
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? "s16x2" : "u16x2";
    add("add." + type + " #10, @1, @2;",
        [=](u64 a, u64 b, u64) { return each_part(a, b, 16, is_signed, [](s64 x, s64 y) { return x + y; }); });
    add("min." + type + " #10, @1, @2;", [=](u64 a, u64 b, u64) { return each_part(a, b, 16, is_signed, least); });
    add("max." + type + " #10, @1, @2;", [=](u64 a, u64 b, u64) { return each_part(a, b, 16, is_signed, most); });
  }
  for (const auto& [type, bits] : {std::pair{"s16x2", 16}, {"s32", 32}}) {
    const std::string operands = std::string(type) + " #10, @1, @2;";
    add("min.relu." + operands, [=, bits = bits](u64 a, u64 b, u64) {
      return each_part(a, b, bits, true, [=](s64 x, s64 y) { return rectified(least(x, y)); });
    });
    add("max.relu." + operands, [=, bits = bits](u64 a, u64 b, u64) {
      return each_part(a, b, bits, true, [=](s64 x, s64 y) { return rectified(most(x, y)); });
    });
  }
  add("add.sat.s32 #10, @1, @2;", [=](u64 a, u64 b, u64) { return clamped(s64{s(a)} + s(b)); });
  add("sub.sat.s32 #10, @1, @2;", [=](u64 a, u64 b, u64) { return clamped(s64{s(a)} - s(b)); });
  const auto apart = [](s64 a, s64 b) { return std::abs(a - b); };
  for (const int bits : {8, 16}) {
    const std::string name = bits == 8 ? "vabsdiff4.u32.u32.u32" : "vabsdiff2.u32.u32.u32";
    add(name + " #10, @1, @2, @3;", [=](u64 a, u64 b, u64) { return each_part(a, b, bits, false, apart); });
    add(name + ".add #10, @1, @2, @3;", [=](u64 a, u64 b, u64 c) {
      const u64 parts = each_part(a, b, bits, false, apart);
      for (int at = 0; at < 32; at += bits) c += parts >> at & ((u64{1} << bits) - 1);
      return c;
    });
  }
  add("and.b32 @2, @2, 31; and.b32 @3, @3, 15; sub.s32 @3, @3, 8; fns.b32 #10, @1, @2, @3;",
      [](u64 a, u64 b, u64 c) { return nth_set_bit(a, b & 31, static_cast<s64>(c & 15) - 8); });
  check_forms(forms, any_bits);
}

TEST_CASE("Forms: logic and shifts of every width, and of predicates") {
  for (const int bytes : {2, 4, 8}) {
    const std::string b = "b" + std::to_string(8 * bytes);
    check_forms({{"and." + b + " #10, @1, @2;", bytes, bytes, [](u64 x, u64 y, u64) { return x & y; }},
                 {"or." + b + " #10, @1, @2;", bytes, bytes, [](u64 x, u64 y, u64) { return x | y; }},
                 {"xor." + b + " #10, @1, @2;", bytes, bytes, [](u64 x, u64 y, u64) { return x ^ y; }},
                 {"not." + b + " #10, @1;", bytes, bytes, [](u64 x, u64, u64) { return ~x; }},
                 {"cnot." + b + " #10, @1;", bytes, bytes, [](u64 x, u64, u64) { return u64{x == 0}; }},
                 {amount(bytes) + "shl." + b + " #10, @1, %r5;", bytes, bytes,
                  [](u64 x, u64 y, u64) { return (y & 127) > 63 ? 0 : x << (y & 127); }},
                 {amount(bytes) + "shr." + b + " #10, @1, %r5;", bytes, bytes,
                  [](u64 x, u64 y, u64) { return (y & 127) > 63 ? 0 : x >> (y & 127); }},
                 {"setp.eq." + b + " %p1, @1, @2; selp." + b + " #10, @1, @3, %p1;", bytes, bytes,
                  [](u64 x, u64 y, u64 z) { return x == y ? x : z; }},
                 {"setp.ne." + b + " %p1, @1, 0; selp." + b + " #10, @2, @3, %p1;", bytes, bytes,
                  [](u64 x, u64 y, u64 z) { return x != 0 ? y : z; }}},
                any_bits);
  }
  const std::string two = "setp.gt.s32 %p1, @1, 0; setp.gt.s32 %p2, @2, 0; ", pick = " selp.b32 #10, 1, 0, %p3;";
  check_forms(
      {{two + "and.pred %p3, %p1, %p2;" + pick, 4, 4, [](u64 a, u64 b, u64) { return u64{s(a) > 0 && s(b) > 0}; }},
       {two + "or.pred %p3, %p1, %p2;" + pick, 4, 4, [](u64 a, u64 b, u64) { return u64{s(a) > 0 || s(b) > 0}; }},
       {two + "xor.pred %p3, %p1, %p2;" + pick, 4, 4, [](u64 a, u64 b, u64) { return u64{(s(a) > 0) != (s(b) > 0)}; }},
       {two + "not.pred %p3, %p1;" + pick, 4, 4, [](u64 a, u64, u64) { return u64{s(a) <= 0}; }},
       {"mov.s32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return a; }},
       {"cvt.s32.s8 #10, @1;", 4, 4, [](u64 a, u64, u64) { return static_cast<u64>(s64{as<std::int8_t>(a)}); }},
       {two + "mov.pred %p3, %p2;" + pick, 4, 4, [](u64, u64 b, u64) { return u64{s(b) > 0}; }},
       {"bfind.u32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return static_cast<u64>(31 - std::countl_zero(u(a))); }},
       {"prmt.b32.ecl #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64, u64 c) {  // lower bytes become the selected one
          u64 result = 0;
          for (u64 i = 0; i < 4; ++i) result |= (a >> (8 * std::max(i, c & 3)) & 255) << (8 * i);
          return result;
        }},
       {"prmt.b32.ecr #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64, u64 c) {  // higher bytes become the selected one
          u64 result = 0;
          for (u64 i = 0; i < 4; ++i) result |= (a >> (8 * std::min(i, c & 3)) & 255) << (8 * i);
          return result;
        }}},
      any_bits);
  check_forms({{"mov.s16 #10, @1;", 2, 2, [](u64 a, u64, u64) { return a; }}}, any_bits);
  check_forms({{"mov.s64 #10, @1;", 8, 8, [](u64 a, u64, u64) { return a; }},
               {"bfind.u64 %r5, @1; cvt.s64.s32 #10, %r5;", 8, 8,
                [](u64 a, u64, u64) { return static_cast<u64>(s64{63} - std::countl_zero(a)); }},
               {"bfind.s64 %r5, @1; cvt.s64.s32 #10, %r5;", 8, 8,
                [](u64 a, u64, u64) {
                  return static_cast<u64>(s64{63} - std::countl_zero(static_cast<s64>(a) < 0 ? ~a : a));
                }}},
              any_bits);
}

namespace {

struct Comparison {
  const char* name;
  bool less, equal, greater;  // whether the comparison holds
};

template <class T> void check_comparisons(const std::string& type, int bytes, const std::vector<Comparison>& all) {
  const std::string bits = std::to_string(8 * bytes);
  std::vector<Form> forms;
  for (const Comparison& c : all) {
    const auto holds = [c](u64 a, u64 b) {
      return as<T>(a) < as<T>(b) ? c.less : as<T>(a) == as<T>(b) ? c.equal : c.greater;
    };
    const std::string name = c.name;
    forms.push_back({"and.b" + bits + " @3, @3, 1; setp.eq.b" + bits + " %p3, @3, 0; setp." + name + ".and." + type +
                         " %p1, @1, @2, %p3; setp." + name + ".or." + type + " %p2, @1, @2, %p3; setp." + name +
                         ".xor." + type + " %p4, @1, @2, %p3; setp." + name + "." + type + " %p5, @1, @2; selp." +
                         type + " #10, 1, 0, %p1;" + more(bits),
                     bytes, bytes, [holds](u64 a, u64 b, u64 d) {
                       const bool h = holds(a, b), p = (d & 1) == 0;
                       return u64{h && p} | u64{h || p} << 1 | u64{h != p} << 2 | u64{h} << 3;
                     }});
    if (bytes == 2) continue;
    for (const char* to : {"u32", "s32", "f32"}) {
      const u64 yes = std::string(to) == "f32" ? 0x3f800000 : 0xffffffff;
      forms.push_back({"set." + name + "." + to + "." + type + " %r5, @1, @2; " +
                           (bytes == 8 ? "cvt.u64.u32 #10, %r5;" : "mov.b32 #10, %r5;"),
                       bytes, bytes, [holds, yes](u64 a, u64 b, u64) { return holds(a, b) ? yes : 0; }});
    }
  }
  check_forms(forms, [](std::mt19937_64& random) -> Inputs {
    Inputs in = any_bits(random);
    if (random() % 4 == 0) in.b = in.a;
    return in;
  });
}

}  // namespace

TEST_CASE("Forms: comparisons of integers, alone and with a predicate") {
  const std::vector<Comparison> both = {{"eq", false, true, false}, {"ne", true, false, true}};
  std::vector<Comparison> plain = both, other;
  for (const Comparison& c : {Comparison{"lt", true, false, false},
                              {"le", true, true, false},
                              {"gt", false, false, true},
                              {"ge", false, true, true}})
    plain.push_back(c);
  for (const Comparison& c : {Comparison{"lo", true, false, false},
                              {"ls", true, true, false},
                              {"hi", false, false, true},
                              {"hs", false, true, true}})
    other.push_back(c);
  check_comparisons<std::int16_t>("s16", 2, plain);
  check_comparisons<s32>("s32", 4, plain);
  check_comparisons<s64>("s64", 8, plain);
  check_comparisons<u16>("u16", 2, other);
  check_comparisons<u32>("u32", 4, other);
  check_comparisons<u64>("u64", 8, other);
  check_comparisons<u32>("b32", 4, both);
  check_comparisons<u64>("b64", 8, both);
}

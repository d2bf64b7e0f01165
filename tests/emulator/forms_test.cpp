// Forms of arithmetic, logic and conversion, each against a scalar formula on edge values and random ones.
#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "emulator/exec/float_bits.h"
#include "emulator/number/convert.h"
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

constexpr int kRows = 256;

struct Inputs {
  u64 a, b, c;
};

// `text` computes X0 from X1, X2 and X3, where X is %h, %r or %d by `width` of the operands and of the result.
struct Form {
  const char* text;
  int from, to;  // bytes
  u64 (*expected)(u64 a, u64 b, u64 c);
};

std::string named(std::string text, char letter, const char* stem) {
  for (std::size_t at; (at = text.find(letter)) != std::string::npos;) text.replace(at, 1, stem);
  return text;
}

// A stands for a source's register stem, D for the result's.
std::string body_of(const Form& form) {
  const auto stem = [](int bytes) { return bytes == 2 ? "%h" : bytes == 4 ? "%r" : "%d"; };
  const auto bits = [](int bytes) { return std::to_string(8 * bytes); };
  std::string body = "mul.wide.u32 %d20, %t, 32; add.s64 %d21, %base, %d20;\n";
  for (int i = 1; i <= 3; ++i) {
    body += "ld.global.b" + bits(form.from) + " " + stem(form.from) + std::to_string(i) + ", [%d21+" +
            std::to_string(8 * (i - 1)) + "];\n";
  }
  body += named(named(form.text, '#', stem(form.to)), '@', stem(form.from)) + "\n";
  return body + "st.global.b" + bits(form.to) + " [%d21+24], " + stem(form.to) + "10;\n";
}

u64 edge(std::mt19937_64& random) {
  static constexpr u64 kEdges[] = {0,          1,          2,          31,         32,      33,           63,
                                   0x7f,       0x80,       0xff,       0x7fff,     0x8000,  0xffff,       0x7fffffff,
                                   0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, ~u64{0}, u64{1} << 63, 0x7f800000,
                                   0x00000001, 0x3c003c00, 0x80008000};
  return random() % 3 == 0 ? kEdges[random() % std::size(kEdges)] : random();
}

u64 low(u64 value, int bytes) {
  return bytes == 8 ? value : value & ((u64{1} << (8 * bytes)) - 1);
}

void check_form(const Form& form, const std::array<Inputs, kRows>& inputs, const char* arch) {
  CAPTURE(std::string(form.text));
  TestMemory memory(device_of(arch), kRows * 32);
  u64* const words = memory.as<u64>();
  for (int i = 0; i < kRows; ++i) {
    const Inputs& in = inputs[static_cast<std::size_t>(i)];
    words[4 * i] = in.a;
    words[4 * i + 1] = in.b;
    words[4 * i + 2] = in.c;
    words[4 * i + 3] = 0;
  }
  run_ptx(kernel_text(body_of(form), arch), memory, {.block = kRows}, arch);
  for (int i = 0; i < kRows; ++i) {
    const Inputs& in = inputs[static_cast<std::size_t>(i)];
    const u64 a = low(in.a, form.from), b = low(in.b, form.from), c = low(in.c, form.from);
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    REQUIRE(low(words[4 * i + 3], form.to) == low(form.expected(a, b, c), form.to));
  }
}

void check_forms(std::initializer_list<Form> forms, Inputs (*make)(std::mt19937_64&), const char* arch = "sm_100a") {
  std::mt19937_64 random(3);
  for (const Form& form : forms) {
    std::array<Inputs, kRows> inputs{};
    for (Inputs& in : inputs) in = make(random);
    check_form(form, inputs, arch);
  }
}

Inputs any_bits(std::mt19937_64& random) {
  return {edge(random), edge(random), edge(random)};
}

s32 s(u64 x) {
  return static_cast<s32>(static_cast<u32>(x));
}
u32 u(u64 x) {
  return static_cast<u32>(x);
}
float f(u64 x) {
  return std::bit_cast<float>(static_cast<u32>(x));
}
double g(u64 x) {
  return std::bit_cast<double>(x);
}
u64 bits(float x) {
  return std::bit_cast<u32>(x);
}
u64 bits(double x) {
  return std::bit_cast<u64>(x);
}

}  // namespace

TEST_CASE("Forms: 32-bit integer arithmetic") {
  check_forms(
      {{"add.u32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return a + b; }},
       {"sub.s32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return a - b; }},
       {"mul.lo.s32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return a * b; }},
       {"mul.hi.u32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return a * b >> 32; }},
       {"mul.hi.s32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) { return static_cast<u64>(s64{s(a)} * s64{s(b)}) >> 32; }},
       {"mul.wide.u32 #10, @1, @2;", 4, 8, [](u64 a, u64 b, u64) { return a * b; }},
       {"mul.wide.s32 #10, @1, @2;", 4, 8, [](u64 a, u64 b, u64) { return static_cast<u64>(s64{s(a)} * s64{s(b)}); }},
       {"mad.lo.u32 #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return a * b + c; }},
       {"mad.hi.u32 #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return (a * b >> 32) + c; }},
       {"mad.hi.s32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return (static_cast<u64>(s64{s(a)} * s64{s(b)}) >> 32) + c; }},
       {"mul24.lo.u32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return (a & 0xffffff) * (b & 0xffffff); }},
       {"sad.u32 #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return c + (a > b ? a - b : b - a); }},
       {"sad.s32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return c + static_cast<u64>(std::abs(s64{s(a)} - s64{s(b)})); }},
       {"min.s32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return u64{u(static_cast<u64>(std::min(s(a), s(b))))}; }},
       {"max.u32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return std::max(a, b); }},
       {"abs.s32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return s(a) < 0 ? 0 - a : a; }},
       {"neg.s32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return 0 - a; }},
       {"or.b32 @2, @2, 1; div.u32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return a / (b | 1); }},
       {"or.b32 @2, @2, 1; rem.u32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return a % (b | 1); }},
       {"and.b32 @2, @2, 0xffff; or.b32 @2, @2, 1; div.s32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) { return static_cast<u64>(s64{s(a)} / static_cast<s64>((b & 0xffff) | 1)); }},
       {"and.b32 @2, @2, 0xffff; or.b32 @2, @2, 1; rem.s32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) { return static_cast<u64>(s64{s(a)} % static_cast<s64>((b & 0xffff) | 1)); }}},
      any_bits);
}

TEST_CASE("Forms: 16- and 64-bit integer arithmetic, carries") {
  check_forms({{"add.u16 #10, @1, @2;", 2, 2, [](u64 a, u64 b, u64) { return a + b; }},
               {"mul.lo.u16 #10, @1, @2;", 2, 2, [](u64 a, u64 b, u64) { return a * b; }},
               {"mul.wide.u16 #10, @1, @2;", 2, 4, [](u64 a, u64 b, u64) { return a * b; }},
               {"mul.wide.s16 #10, @1, @2;", 2, 4,
                [](u64 a, u64 b, u64) {
                  return static_cast<u64>(s64{static_cast<std::int16_t>(a)} * static_cast<std::int16_t>(b));
                }},
               {"mul.hi.s16 #10, @1, @2;", 2, 2,
                [](u64 a, u64 b, u64) {
                  return static_cast<u64>(s64{static_cast<std::int16_t>(a)} * static_cast<std::int16_t>(b)) >> 16;
                }},
               {"add.s64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return a + b; }},
               {"mul.lo.u64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return a * b; }},
               {"mul.hi.u64 #10, @1, @2;", 8, 8,
                [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64); }},
               {"mul.hi.s64 #10, @1, @2;", 8, 8,
                [](u64 a, u64 b, u64) {
                  return static_cast<u64>(static_cast<__int128>(static_cast<s64>(a)) * static_cast<s64>(b) >> 64);
                }},
               {"mad.lo.s64 #10, @1, @2, @3;", 8, 8, [](u64 a, u64 b, u64 c) { return a * b + c; }},
               {"min.s64 #10, @1, @2;", 8, 8,
                [](u64 a, u64 b, u64) { return static_cast<u64>(std::min(static_cast<s64>(a), static_cast<s64>(b))); }},
               {"or.b64 @2, @2, 1; div.u64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return a / (b | 1); }},
               {"or.b64 @2, @2, 1; rem.u64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return a % (b | 1); }},
               {"abs.s64 #10, @1;", 8, 8, [](u64 a, u64, u64) { return static_cast<s64>(a) < 0 ? 0 - a : a; }},
               {"add.cc.u32 %r11, @1, @2; addc.u32 #10, @1, @3;", 4, 4,
                [](u64 a, u64 b, u64 c) { return a + c + ((a + b) >> 32); }},
               {"sub.cc.u32 %r11, @1, @2; subc.u32 #10, @1, @3;", 4, 4,
                [](u64 a, u64 b, u64 c) { return a - c - (a < b ? 1 : 0); }},
               {"add.cc.u64 %d11, @1, @2; addc.cc.u64 %d12, @3, @3; addc.u64 #10, @1, 0;", 8, 8,
                [](u64 a, u64 b, u64 c) {
                  const u64 carry = a + b < a ? 1 : 0;
                  return a + (static_cast<u64>((static_cast<unsigned __int128>(c) + c + carry) >> 64));
                }}},
              any_bits);
}

namespace {

u64 permuted(u64 a, u64 b, u64 c) {
  u64 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u64 selector = c >> (4 * i) & 15;
    u64 byte = (b << 32 | a) >> (8 * (selector & 7)) & 255;
    if ((selector & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// Bit by bit, as PTX ISA 9.0, "bfe", writes it.
u64 extracted(u64 a, u64 position, u64 length, int width, bool is_signed) {
  position &= 255;
  length &= 255;
  const int top = width - 1;
  u64 sign = 0;
  if (is_signed && length != 0) sign = a >> std::min<u64>(position + length - 1, static_cast<u64>(top)) & 1;
  u64 result = 0;
  for (u64 i = 0; i < static_cast<u64>(width); ++i) {
    const bool inside = i < length && position + i <= static_cast<u64>(top);
    result |= (inside ? a >> (position + i) & 1 : sign) << i;
  }
  return result;
}

u64 inserted(u64 a, u64 b, u64 position, u64 length, int width) {
  position &= 255;
  length &= 255;
  for (u64 i = 0; i < length && position + i < static_cast<u64>(width); ++i)
    b = (b & ~(u64{1} << (position + i))) | (a >> i & 1) << (position + i);
  return b;
}

s64 signed_byte(u64 x, int i) {
  return static_cast<std::int8_t>(x >> (8 * i));
}

}  // namespace

TEST_CASE("Forms: bits, shifts, permutations, dot products") {
  check_forms(
      {{"and.b32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return a & b; }},
       {"or.b64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return a | b; }},
       {"xor.b16 #10, @1, @2;", 2, 2, [](u64 a, u64 b, u64) { return a ^ b; }},
       {"not.b32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return ~a; }},
       {"cnot.b32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return u64{a == 0}; }},
       {"shl.b32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return b > 31 ? 0 : a << b; }},
       {"shr.u32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return b > 31 ? 0 : a >> b; }},
       {"shr.s32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) { return static_cast<u64>(s64{s(a)} >> std::min<u64>(b, 31)); }},
       {"cvt.u32.u64 %r5, @2; shl.b64 #10, @1, %r5;", 8, 8,
        [](u64 a, u64 b, u64) { return u(b) > 63 ? 0 : a << u(b); }},
       {"cvt.u32.u64 %r5, @2; shr.s64 #10, @1, %r5;", 8, 8,
        [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<s64>(a) >> std::min<u32>(u(b), 63)); }},
       {"shf.l.wrap.b32 #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return (b << 32 | a) << (c & 31) >> 32; }},
       {"shf.r.wrap.b32 #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return (b << 32 | a) >> (c & 31); }},
       {"shf.l.clamp.b32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return c >= 32 ? a : (b << 32 | a) << c >> 32; }},
       {"shf.r.clamp.b32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return (b << 32 | a) >> std::min<u64>(c, 32); }},
       {"lop3.b32 #10, @1, @2, @3, 0x96;", 4, 4, [](u64 a, u64 b, u64 c) { return a ^ b ^ c; }},
       {"lop3.b32 #10, @1, @2, @3, 0xe8;", 4, 4, [](u64 a, u64 b, u64 c) { return (a & b) | (a & c) | (b & c); }},
       {"prmt.b32 #10, @1, @2, @3;", 4, 4, permuted},
       {"prmt.b32.f4e #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return (b << 32 | a) >> (8 * (c & 3)); }},
       {"prmt.b32.b4e #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          static constexpr u64 kSelectors[] = {0x5670, 0x6701, 0x7012, 0x0123};
          return permuted(a, b, kSelectors[c & 3]);
        }},
       {"prmt.b32.rc8 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64, u64 c) { return (a >> (8 * (c & 3)) & 255) * 0x01010101; }},
       {"prmt.b32.rc16 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64, u64 c) { return (a >> (16 * (c & 1)) & 65535) * 0x00010001; }},
       {"bfe.u32 #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return extracted(a, b, c, 32, false); }},
       {"bfe.s32 #10, @1, @2, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return extracted(a, b, c, 32, true); }},
       {"cvt.u32.u64 %r5, @2; cvt.u32.u64 %r6, @3; bfe.s64 #10, @1, %r5, %r6;", 8, 8,
        [](u64 a, u64 b, u64 c) { return extracted(a, b, c, 64, true); }},
       {"cvt.u32.u64 %r5, @2; cvt.u32.u64 %r6, @3; bfe.u64 #10, @1, %r5, %r6;", 8, 8,
        [](u64 a, u64 b, u64 c) { return extracted(a, b, c, 64, false); }},
       {"bfi.b32 #10, @1, @2, @3, 7;", 4, 4, [](u64 a, u64 b, u64 c) { return inserted(a, b, c, 7, 32); }},
       {"bfi.b32 #10, @1, @2, 5, @3;", 4, 4, [](u64 a, u64 b, u64 c) { return inserted(a, b, 5, c, 32); }},
       {"cvt.u32.u64 %r5, @3; bfi.b64 #10, @1, @2, %r5, 40;", 8, 8,
        [](u64 a, u64 b, u64 c) { return inserted(a, b, c, 40, 64); }},
       {"popc.b32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return static_cast<u64>(std::popcount(a)); }},
       {"popc.b64 %r5, @1; cvt.u64.u32 #10, %r5;", 8, 8,
        [](u64 a, u64, u64) { return static_cast<u64>(std::popcount(a)); }},
       {"clz.b32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return static_cast<u64>(std::countl_zero(u(a))); }},
       {"clz.b64 %r5, @1; cvt.u64.u32 #10, %r5;", 8, 8,
        [](u64 a, u64, u64) { return static_cast<u64>(std::countl_zero(a)); }},
       {"bfind.u32 #10, @1;", 4, 4, [](u64 a, u64, u64) { return static_cast<u64>(31 - std::countl_zero(u(a))); }},
       {"bfind.s32 #10, @1;", 4, 4,
        [](u64 a, u64, u64) { return static_cast<u64>(31 - std::countl_zero(s(a) < 0 ? ~u(a) : u(a))); }},
       {"bfind.shiftamt.u32 #10, @1;", 4, 4,
        [](u64 a, u64, u64) { return a == 0 ? ~u64{0} : static_cast<u64>(std::countl_zero(u(a))); }},
       {"brev.b32 #10, @1;", 4, 4,
        [](u64 a, u64, u64) {
          u64 result = 0;
          for (int i = 0; i < 32; ++i) result |= (a >> i & 1) << (31 - i);
          return result;
        }},
       {"brev.b64 #10, @1;", 8, 8,
        [](u64 a, u64, u64) {
          u64 result = 0;
          for (int i = 0; i < 64; ++i) result |= (a >> i & 1) << (63 - i);
          return result;
        }},
       {"dp4a.u32.u32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          for (int i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
          return c;
        }},
       {"dp4a.s32.s32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          for (int i = 0; i < 4; ++i) c += static_cast<u64>(signed_byte(a, i) * signed_byte(b, i));
          return c;
        }},
       {"dp4a.u32.s32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) {
          for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 255) * static_cast<u64>(signed_byte(b, i));
          return c;
        }},
       {"dp2a.lo.u32.u32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return c + (a & 65535) * (b & 255) + (a >> 16) * (b >> 8 & 255); }},
       {"dp2a.hi.u32.u32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return c + (a & 65535) * (b >> 16 & 255) + (a >> 16) * (b >> 24 & 255); }},
       {"setp.lt.s32 %p1, @1, @2; selp.b32 #10, @1, @2, %p1;", 4, 4,
        [](u64 a, u64 b, u64) { return s(a) < s(b) ? a : b; }},
       {"setp.hi.u32 %p1|%p2, @1, @2; selp.u32 #10, 1, 2, %p2;", 4, 4,
        [](u64 a, u64 b, u64) { return u64{a > b ? 2U : 1U}; }},
       {"setp.eq.u32 %p3, @3, 0; setp.ge.and.u32 %p1, @1, @2, !%p3; selp.u32 #10, 1, 0, %p1;", 4, 4,
        [](u64 a, u64 b, u64 c) { return u64{a >= b && c != 0}; }},
       {"set.lt.u32.s32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return s(a) < s(b) ? ~u64{0} : 0; }},
       {"mov.b32 {%h1, %h2}, @1; mov.b32 #10, {%h2, %h1};", 4, 4, [](u64 a, u64, u64) { return a << 16 | a >> 16; }},
       {"mov.b64 {%r5, %r6}, @1; mov.b64 #10, {%r6, %r5};", 8, 8, [](u64 a, u64, u64) { return a << 32 | a >> 32; }}},
      any_bits);
}

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
enum class To { zero, down, up };

// The number of type T next to an exact value in a direction.
template <class T> u64 directed(Exact value, To to) {
  T nearest = static_cast<T>(value);
  const bool lower = static_cast<Exact>(nearest)<value, higher = static_cast<Exact>(nearest)> value;
  const bool down = to == To::down || (to == To::zero && value > 0), up = to == To::up || (to == To::zero && value < 0);
  if (higher && down) nearest = std::nextafter(nearest, -std::numeric_limits<T>::infinity());
  if (lower && up) nearest = std::nextafter(nearest, std::numeric_limits<T>::infinity());
  if (nearest == 0 && value == 0) nearest = to == To::down ? -T{0} : T{0};
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
      {{"add.rz.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) + x(b), To::zero); }},
       {"sub.rm.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) - x(b), To::down); }},
       {"add.rp.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) + x(b), To::up); }},
       {"mul.rz.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) * x(b), To::zero); }},
       {"mul.rp.f32 #10, @1, @2;", 4, 4, [](u64 a, u64 b, u64) { return directed<float>(x(a) * x(b), To::up); }},
       {"fma.rm.f32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return directed<float>(x(a) * x(b) + x(c), To::down); }},
       {"fma.rz.f32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return directed<float>(x(a) * x(b) + x(c), To::zero); }},
       {"fma.rp.f32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return directed<float>(x(a) * x(b) + x(c), To::up); }},
       {"fma.rn.f32 #10, @1, @2, @3;", 4, 4,
        [](u64 a, u64 b, u64 c) { return bits(static_cast<float>(x(a) * x(b) + x(c))); }}},
      moderate_f32);
  check_forms(
      {{"add.rz.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return directed<double>(y(a) + y(b), To::zero); }},
       {"sub.rm.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return directed<double>(y(a) - y(b), To::down); }},
       {"mul.rp.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return directed<double>(y(a) * y(b), To::up); }},
       {"mul.rz.f64 #10, @1, @2;", 8, 8, [](u64 a, u64 b, u64) { return directed<double>(y(a) * y(b), To::zero); }},
       {"fma.rn.f64 #10, @1, @2, @3;", 8, 8, [](u64 a, u64 b, u64 c) { return bits(std::fma(g(a), g(b), g(c))); }}},
      moderate_f64);
}

TEST_CASE("Forms: floats of every bit pattern") {
  check_forms(
      {{"min.f32 #10, @1, @2;", 4, 4,
        [](u64 a, u64 b, u64) {
          if (std::isnan(f(a))) return std::isnan(f(b)) ? u64{0x7fffffff} : b;
          if (std::isnan(f(b))) return a;
          if (f(a) == 0 && f(b) == 0) return a | b;  // -0 is the lesser
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
      return u64{emulator::f32_to_f16(
                 std::ldexp(1.0F + static_cast<float>(random() % 1024) / 1024, static_cast<int>(random() % 12) - 8))} |
             (random() % 2) << 15;
    };
    return {half() | half() << 16, half() | half() << 16, half() | half() << 16};
  };
  check_forms({{"fma.rn.relu.f16x2 #10, @1, @2, @3;", 4, 4,
                [](u64 a, u64 b, u64 c) {
                  u64 result = 0;
                  for (int i = 0; i < 32; i += 16) {
                    // Exact in f64: 11 by 11 bits, and exponents close to each other.
                    const double value = double{emulator::f16_to_f32(static_cast<u16>(a >> i))} *
                                             emulator::f16_to_f32(static_cast<u16>(b >> i)) +
                                         emulator::f16_to_f32(static_cast<u16>(c >> i));
                    result |= emulator::number::nearest(emulator::number::Format::f16, value > 0 ? value : 0.0) << i;
                  }
                  return result;
                }},
               {"add.sat.f16x2 #10, @1, @2;", 4, 4,
                [](u64 a, u64 b, u64) {
                  u64 result = 0;
                  for (int i = 0; i < 32; i += 16) {
                    const double value = double{emulator::f16_to_f32(static_cast<u16>(a >> i))} +
                                         emulator::f16_to_f32(static_cast<u16>(b >> i));
                    result |= emulator::number::nearest(emulator::number::Format::f16, std::clamp(value, 0.0, 1.0))
                              << i;
                  }
                  return result;
                }},
               {"max.NaN.f16x2 #10, @1, @2;", 4, 4,
                [](u64 a, u64 b, u64) {
                  u64 result = 0;
                  for (int i = 0; i < 32; i += 16) {
                    const auto p = static_cast<u16>(a >> i), q = static_cast<u16>(b >> i);
                    result |= u64{emulator::f16_to_f32(p) > emulator::f16_to_f32(q) ? p : q} << i;
                  }
                  return result;
                }}},
              halves);
}

TEST_CASE("Forms: conversions to and from packed small formats") {
  using emulator::number::Format;
  // Each element by the definition of its format, through f64.
  const auto check = [](const char* text, int to, u64 (*expected)(u64, u64, u64)) {
    check_forms({{text, 4, to, expected}}, moderate_f32);
  };
  static const auto small = [](Format format, u64 a) {
    return emulator::number::convert({.from = Format::f64, .to = format, .finite = true}, bits(double{f(a)}));
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
      const double exact = emulator::number::value_of(Format::e4m3, small(Format::e4m3, value));
      return emulator::number::nearest(Format::f16, exact);
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

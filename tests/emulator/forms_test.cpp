// Forms of integer arithmetic and logic, each against a scalar formula on edge values and random ones.
#include "emulator/form_check.h"

using namespace tma_jit;
using namespace tma_jit::testing;
using namespace tma_jit::testing::forms;

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
       {"cvt.u64.u32 %d5, @3; mad.wide.u32 #10, @1, @2, %d5;", 4, 8, [](u64 a, u64 b, u64 c) { return a * b + c; }},
       {"cvt.s64.s32 %d5, @3; mad.wide.s32 #10, @1, @2, %d5;", 4, 8,
        [](u64 a, u64 b, u64 c) { return static_cast<u64>(s64{s(a)} * s64{s(b)} + s64{s(c)}); }},
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

// Bit by bit, following PTX ISA 9.0, "bfe".
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

// Forms of loads, stores, atomics and reductions with every modifier, type and space, against plain loops.
#include <algorithm>
#include <bit>

#include "emulator/thread_words.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr const char* kDeclared =
    ".shared .align 128 .b8 room[1024];\n.const .align 16 .b32 table[8] = {100, 101, 102, 103, 104, 105, 106, 107};\n";

// %d2 is the address of the thread's 32 bytes in global memory, %r6 that in shared memory, %d3 the same as a generic
// address, and %d6 that in local memory. Words of global memory are initialised to 100 + their index.
std::string address_setup() {
  return ".local .align 32 .b8 own[32];\n"
         "mul.wide.u32 %d1, %t, 32; add.s64 %d2, %base, %d1; mov.u32 %r1, room; shl.b32 %r5, %t, 5; add.u32 %r6, %r1, "
         "%r5; cvt.u64.u32 %d4, %r6; cvta.shared.u64 %d3, %d4; mov.u64 %d6, own;\n"
         "createpolicy.fractional.L2::evict_first.b64 %d5, 1.0;\n";
}

void check(const std::string& body, const std::function<u32(u32)>& expected) {
  check_words({address_setup(), 8, kDeclared}, body, expected, {});
}

const std::vector<const char*> kHints = {".ca",
                                         ".cg",
                                         ".cs",
                                         ".lu",
                                         ".cv",
                                         ".nc",
                                         ".L1::evict_normal",
                                         ".L1::evict_unchanged",
                                         ".L1::evict_first",
                                         ".L1::evict_last",
                                         ".L1::no_allocate",
                                         ".L2::64B",
                                         ".L2::128B",
                                         ".L2::256B"};

const std::vector<const char*> kWideHints = {".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"};

}  // namespace

TEST_CASE("Forms: loads with every hint, order and scope bring what is there") {
  const auto there = [](u32 t) { return 100 + 8 * t; };
  for (const char* hint : kHints) check(std::string("ld.global") + hint + ".u32 %r10, [%d2];", there);
  check("ld.global.L2::cache_hint.u32 %r10, [%d2], %d5;", there);
  for (const char* hint : kWideHints)
    check(std::string("ld.global") + hint + ".v8.u32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%d2];", there);
  for (const char* order :
       {".weak", ".volatile", ".relaxed.cta", ".relaxed.cluster", ".acquire.gpu", ".acquire.sys", ".mmio.relaxed.sys"})
    check(std::string("ld") + order + ".global.u32 %r10, [%d2];", there);
}

TEST_CASE("Forms: stores with every hint, order and scope leave what they were given") {
  const auto given = [](u32 t) { return t + 7; };
  const std::string value = "add.u32 %r9, %t, 7; ", back = " ld.global.u32 %r10, [%d2+4];";
  for (const char* hint : {".wb", ".cg", ".cs", ".wt", ".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                           ".L1::evict_last", ".L1::no_allocate"})
    check(value + "st.global" + hint + ".u32 [%d2+4], %r9;" + back, given);
  check(value + "st.global.L2::cache_hint.u32 [%d2+4], %r9, %d5;" + back, given);
  for (const char* hint : kWideHints)
    check(value + "st.global" + hint + ".v8.u32 [%d2], {%t, %r9, %t, %t, %t, %t, %t, %t};" + back, given);
  for (const char* order :
       {".weak", ".volatile", ".relaxed.cta", ".relaxed.cluster", ".release.gpu", ".release.sys", ".mmio.relaxed.sys"})
    check(value + "st" + order + ".global.u32 [%d2+4], %r9;" + back, given);
}

TEST_CASE("Forms: loads and stores in every space, and addresses turned into each other") {
  const auto given = [](u32 t) { return t + 7; };
  const std::string value = "add.u32 %r9, %t, 7; ";
  for (const char* space : {"shared", "shared::cta", "shared::cluster"})
    check(value + "st." + space + ".u32 [%r6], %r9; ld." + space + ".u32 %r10, [%r6];", given);
  check(value + "st.local.u32 [%d6+4], %r9; ld.local.u32 %r10, [%d6+4];", given);
  check(value + "cvta.local.u64 %d7, %d6; st.u32 [%d7+8], %r9; cvta.to.local.u64 %d8, %d7; ld.local.u32 %r10, [%d8+8];",
        given);
  check(value + "cvta.global.u64 %d7, %d2; cvta.to.global.u64 %d8, %d7; st.u32 [%d8+4], %r9; ld.u32 %r10, [%d7+4];",
        given);
  check(value +
            "cvta.shared::cta.u64 %d7, %d4; st.u32 [%d7], %r9; cvta.to.shared::cluster.u64 %d8, %d7; cvt.u32.u64 "
            "%r7, %d8; ld.shared.u32 %r10, [%r7];",
        given);
  check(
      "and.b32 %r7, %t, 7; shl.b32 %r7, %r7, 2; cvt.u64.u32 %d7, %r7; mov.u64 %d8, table; add.u64 %d8, %d8, %d7; "
      "ld.const.u32 %r10, [%d8];",
      [](u32 t) { return 100 + t % 8; });
  check("mov.u64 %d8, table; cvta.const.u64 %d9, %d8; ld.u32 %r10, [%d9+8];", [](u32) { return 102U; });
  check(
      "ld.param::entry.u64 %d8, [p]; ld.param.u64 %d9, [p]; setp.eq.u64 %p1, %d8, %base; setp.eq.and.u64 %p1, %d9, "
      "%base, %p1; selp.u32 %r10, 5, 6, %p1;",
      [](u32) { return 5U; });
  check(
      "mov.u64 %d8, p; cvta.param.u64 %d9, %d8; ld.u64 %d10, [%d9]; setp.eq.u64 %p1, %d10, %base; selp.u32 %r10, 5, 6, "
      "%p1;",
      [](u32) { return 5U; });
  check(value + "{ .param .b32 v; st.param::func.b32 [v], %r9; ld.param::func.b32 %r10, [v]; }", given);
  check(
      "isspacep.local %p1, %d3; cvta.local.u64 %d7, %d6; isspacep.local %p2, %d7; isspacep.shared::cta %p3, %d3; "
      "isspacep.shared::cluster %p4, %d3; selp.u32 %r10, 1, 0, %p1; @%p2 add.u32 %r10, %r10, 2; @%p3 add.u32 %r10, "
      "%r10, 4; @%p4 add.u32 %r10, %r10, 8;",
      [](u32) { return 14U; });
  for (const char* hint :
       {"prefetch.local.L1 [%d6];", "prefetch.global.L2::evict_normal [%d2];", "pmevent.mask 5;", "fence.release.cta;",
        "fence.cta;", "fence.proxy.async.global;", "fence.proxy.async.shared::cluster;", "bra.uni N; N:"})
    check(std::string(hint) + " add.u32 %r10, %t, 7;", given);
}

TEST_CASE("Forms: loads and stores of every type carry its bytes") {
  struct Type {
    const char* name;
    const char* stem;
    int bytes;
    bool is_signed;
  };
  for (const Type& t : {Type{"b8", "%r", 1, false},
                        {"u8", "%r", 1, false},
                        {"s8", "%r", 1, true},
                        {"b16", "%h", 2, false},
                        {"u16", "%r", 2, false},
                        {"s16", "%r", 2, true},
                        {"b32", "%r", 4, false},
                        {"u32", "%r", 4, false},
                        {"s32", "%d", 4, true},
                        {"f32", "%f", 4, false},
                        {"b64", "%d", 8, false},
                        {"u64", "%d", 8, false},
                        {"s64", "%d", 8, true},
                        {"f64", "%g", 8, false}}) {
    for (const char* load : {"ld.global", "ldu.global"}) {
      if (std::string(load) == "ldu.global" && (std::string(t.name) == "f16" || std::string(t.name) == "bf16"))
        continue;
      const std::string r = std::string(t.stem) + "8";
      CAPTURE(std::string(t.name));
      TestMemory memory(device_of("sm_100a"), 4096);
      for (u32 i = 0; i < 1024; ++i) memory.as<u32>()[i] = i * 2654435761U;
      std::vector<unsigned char> before(memory.as<unsigned char>(), memory.as<unsigned char>() + 1024);
      const bool single = t.stem == std::string("%r"), wide = t.stem == std::string("%d");
      const bool widens = (single && t.bytes < 4) || (wide && t.bytes < 8);
      const std::string widened = single ? "st.global.u32 [%d2+16], %r8;" : wide ? "st.global.u64 [%d2+16], %d8;" : "";
      run_ptx(kernel_text(address_setup() + load + "." + t.name + " " + r + ", [%d2]; st.global." + t.name +
                              " [%d2+8], " + r + "; " + widened,
                          "sm_100a", kDeclared),
              memory, {}, "sm_100a");
      for (u32 thread = 0; thread < 32; ++thread) {
        const unsigned char* const now = memory.as<unsigned char>() + 32 * thread;
        CHECK(std::memcmp(now + 8, &before[32 * thread], static_cast<std::size_t>(t.bytes)) == 0);
        CHECK(std::memcmp(now + 8 + t.bytes, &before[32 * thread + 8 + static_cast<u32>(t.bytes)],
                          static_cast<std::size_t>(8 - t.bytes)) == 0);
        if (!widens) continue;
        const bool negative = t.is_signed && (before[32 * thread + static_cast<u32>(t.bytes) - 1] & 0x80) != 0;
        CHECK(now[16 + t.bytes] == (negative ? 0xff : 0));
      }
    }
  }
  check(
      "ldu.global.v2.u32 {%r8, %r9}, [%d2]; ldu.global.v4.u32 {%r11, %r12, %r13, %r14}, [%d2]; sub.u32 %r10, %r14, "
      "%r8;",
      [](u32) { return 3U; });
  check(
      "{ .reg .b128 q, w; ld.global.b128 q, [%d2+16]; mov.b128 w, q; st.shared.b128 [%r6], w; } ld.shared.u32 %r10, "
      "[%r6+8];",
      [](u32 t) { return 100 + 8 * t + 6; });
  TestMemory memory(device_of("sm_100a"), 4096);
  CHECK(
      fault_of(kernel_text("{ .reg .b128 q, w; ld.global.v2.b128 {q, w}, [%base]; }", "sm_100a"), memory, {}, "sm_100a")
          .find("an access of 32 bytes") != std::string::npos);
}

namespace {

struct Operation {
  const char* name;
  u64 (*integer)(u64 old, u64 value, u64 most);  // `most`: all bits of the type
};
const Operation kInteger[] = {{"add", [](u64 a, u64 b, u64 m) { return (a + b) & m; }},
                              {"and", [](u64 a, u64 b, u64) { return a & b; }},
                              {"or", [](u64 a, u64 b, u64) { return a | b; }},
                              {"xor", [](u64 a, u64 b, u64) { return a ^ b; }},
                              {"exch", [](u64, u64 b, u64) { return b; }},
                              {"inc", [](u64 a, u64 b, u64) { return a >= b ? 0 : a + 1; }},
                              {"dec", [](u64 a, u64 b, u64) { return a == 0 || a > b ? b : a - 1; }},
                              {"min", [](u64 a, u64 b, u64) { return std::min(a, b); }},
                              {"max", [](u64 a, u64 b, u64) { return std::max(a, b); }}};

// Executes atom, and red if it exists, in one thread; returns the old and the new value.
void check_atomic(const std::string& words, const std::string& type, int bytes, u64 old, u64 value, u64 expected) {
  const std::string stem = bytes == 8 ? "%d" : bytes == 4 ? "%r" : "%h", bits = std::to_string(8 * bytes);
  const bool reduces = words.find("exch") == std::string::npos && words.find("acquire") == std::string::npos &&
                       words.find("acq_rel") == std::string::npos;
  for (const std::string space : {".global", ".shared", ".shared::cta", ".shared::cluster"}) {
    const std::string at = space == ".global" ? "[%base+64]" : "[%r1+64]";
    for (const bool red : {false, true}) {
      if (red && !reduces) continue;
      const std::size_t dot = words.rfind('.');
      const std::string form =
          (red ? "red" : "atom") + words.substr(0, dot) + space + words.substr(dot) +
          (type == "f16" || type == "f16x2" || type == "bf16" || type == "bf16x2" ? ".noftz." : ".") + type;
      CAPTURE(form);
      TestMemory memory(device_of("sm_100a"), 256);
      std::memset(memory.as<char>(), 0, 256);
      memory.as<u64>()[0] = old;
      memory.as<u64>()[1] = value;
      run_ptx(kernel_text("setp.ne.u32 %p1, %t, 0; @%p1 bra E; mov.u32 %r1, room;\nld.global.b" + bits + " " + stem +
                              "5, [%base]; ld.global.b" + bits + " " + stem + "6, [%base+8]; st" + space + ".b" + bits +
                              " " + at + ", " + stem + "5;\n" + form + " " + (red ? "" : stem + "7, ") + at + ", " +
                              stem + "6;\nld" + space + ".b" + bits + " " + stem + "8, " + at + "; st.global.b" + bits +
                              " [%base+16], " + stem + "8;\n" +
                              (red ? "" : "st.global.b" + bits + " [%base+24], " + stem + "7;") + "\nE:",
                          "sm_100a", kDeclared),
              memory, {}, "sm_100a");
      CHECK(memory.as<u64>()[2] == expected);
      if (!red) CHECK(memory.as<u64>()[3] == old);
    }
  }
}

u64 both(u32 half) {
  return half | half << 16;
}

}  // namespace

TEST_CASE("Forms: atomics and reductions of every operation, type and space") {
  for (const Operation& o : kInteger) {
    const std::string name = o.name;
    const bool bitwise = name == "and" || name == "or" || name == "xor" || name == "exch";
    const bool counts = name == "inc" || name == "dec";
    for (const auto& [a, b] : {std::pair{u64{5}, u64{9}}, {0xfffffff0, 0x20}, {9, 9}}) {
      check_atomic("." + name, bitwise ? "b32" : "u32", 4, a, b, o.integer(a, b, 0xffffffff));
      if (!counts)
        check_atomic("." + name, bitwise ? "b64" : "u64", 8, a << 20, b << 20, o.integer(a << 20, b << 20, ~u64{0}));
    }
  }
  const auto narrow = [](s32 x) { return u64{static_cast<u32>(x)}; };
  check_atomic(".add", "s32", 4, narrow(-5), 3, narrow(-2));
  check_atomic(".min", "s32", 4, narrow(-5), 3, narrow(-5));
  check_atomic(".max", "s32", 4, narrow(-5), 3, 3);
  check_atomic(".min", "s64", 8, static_cast<u64>(-5), 3, static_cast<u64>(-5));
  check_atomic(".max", "s64", 8, static_cast<u64>(-5), 3, 3);
  check_atomic(".add", "f32", 4, std::bit_cast<u32>(1.5F), std::bit_cast<u32>(2.25F), std::bit_cast<u32>(3.75F));
  check_atomic(".add", "f64", 8, std::bit_cast<u64>(1.5), std::bit_cast<u64>(2.25), std::bit_cast<u64>(3.75));
  check_atomic(".add", "f16x2", 4, both(0x3c00), both(0x4000), both(0x4200));
  check_atomic(".add", "bf16x2", 4, both(0x3f80), both(0x4000), both(0x4040));
  check_atomic(".add", "f16", 2, 0x3c00, 0x4000, 0x4200);
  check_atomic(".add", "bf16", 2, 0x3f80, 0x4000, 0x4040);
  check(
      "cvt.u16.u32 %h2, %t; mov.b16 %h3, 77; st.shared.b16 [%r6], %h2; atom.shared.cas.b16 %h4, [%r6], %h2, %h3; "
      "ld.shared.u16 %r10, [%r6];",
      [](u32) { return 77U; });
}

TEST_CASE("Forms: cas and exch of 16 bytes") {
  // Words 0 to 3 of each thread's row are old, 4 to 7 become what memory holds, 8 to 11 what the instruction returns.
  const auto check_wide = [](const std::string& instruction, bool shared) {
    TestMemory memory(device_of("sm_90a"), 32 * 64);
    for (u32 i = 0; i < 32 * 16; ++i) memory.as<u32>()[i] = i;
    const std::string at = shared ? "[%r1]" : "[%d1]";
    run_ptx(kernel_text(".reg .b128 %q<8>; .reg .b64 %w<8>;\nmul.wide.u32 %d1, %t, 64; add.u64 %d1, %d1, %base;\n"
                        "mov.u32 %r1, wide; shl.b32 %r2, %t, 4; add.u32 %r1, %r1, %r2;\n"
                        "ld.global.b128 %q1, [%d1]; mov.b64 %w1, 77; mov.b64 %w2, 88; mov.b128 %q2, {%w1, %w2};\n" +
                            std::string(shared ? "st.shared.b128 [%r1], %q1;\n" : "") + instruction + at +
                            (instruction.find("cas") != std::string::npos ? ", %q1, %q2;\n" : ", %q2;\n") + "ld." +
                            (shared ? "shared" : "global") + ".b128 %q4, " + at +
                            ";\nst.global.b128 [%d1+16], %q4; st.global.b128 [%d1+32], %q3;",
                        "sm_90a", ".shared .align 16 .b8 wide[512];\n"),
            memory);
    for (u32 t = 0; t < 32; ++t) {
      const u32* const row = memory.as<u32>() + std::size_t{16} * t;
      CHECK(row[4] == 77);
      CHECK(row[6] == 88);
      for (u32 i = 0; i < 4; ++i) CHECK(row[8 + i] == 16 * t + i);
    }
  };
  for (const char* order : {".relaxed.cta", ".acquire.cluster", ".release.sys"})
    check_wide(std::string("atom") + order + ".global.exch.b128 %q3, ", false);
  for (const char* space : {".shared::cta", ".shared::cluster"})
    check_wide(std::string("atom") + space + ".exch.b128 %q3, ", true);
  for (const bool shared : {false, true}) {
    const std::string space = shared ? ".shared" : ".global";
    check_wide("atom" + space + ".exch.b128 %q3, ", shared);
    check_wide("atom.acq_rel.gpu" + space + ".cas.b128 %q3, ", shared);
    check_wide("mov.b64 %w3, 5; mov.b128 %q5, {%w1, %w3}; atom" + space + ".cas.b128 %q3, " +
                   (shared ? "[%r1]" : "[%d1]") + ", %q5, %q2; atom" + space + ".cas.b128 %q3, ",
               shared);
  }
}

TEST_CASE("Forms: sums of f32 flush subnormal numbers in global memory and nowhere else") {
  const auto left = [](const std::string& instruction, const std::string& back) {
    TestMemory memory(device_of("sm_100a"), 256);
    std::memset(memory.as<char>(), 0, 256);
    memory.as<u32>()[0] = 0x00400000;  // half the least normal number
    memory.as<u32>()[1] = 0x80200000;
    run_ptx(kernel_text("setp.ne.u32 %p1, %t, 0; @%p1 bra E; mov.u32 %r1, room; cvt.u64.u32 %d1, %r1; cvta.shared.u64 "
                        "%d1, %d1;\nld.global.f32 %f1, [%base]; ld.global.f32 %f2, [%base+4]; mov.f32 %f3, "
                        "0f00800000; st.shared.f32 [%r1], %f1;\n" +
                            instruction + "\n" + back + " st.global.f32 [%base+16], %f4;\nE:",
                        "sm_100a", kDeclared),
            memory, {}, "sm_100a");
    return memory.as<u32>()[4];
  };
  const std::string global = "ld.global.f32 %f4, [%base];", shared = "ld.shared.f32 %f4, [%r1];";
  CHECK(left("red.global.add.f32 [%base], %f1;", global) == 0);
  CHECK(left("red.global.add.f32 [%base], %f3;", global) == 0x00800000);
  CHECK(left("atom.add.f32 %f5, [%base], %f1;", global) == 0);
  CHECK(left("red.global.add.v2.f32 [%base], {%f1, %f1};", global) == 0);
  CHECK(left("st.global.f32 [%base], %f2; red.global.add.f32 [%base], %f2;", global) == 0x80000000);
  CHECK(left("red.shared.add.f32 [%r1], %f1;", shared) == 0x00800000);
  CHECK(left("atom.add.f32 %f5, [%d1], %f2;", shared) == 0x00200000);
}

TEST_CASE("Forms: atomics and reductions in every order and scope") {
  for (const char* scope : {".cta", ".cluster", ".gpu", ".sys"}) {
    for (const char* order : {".relaxed", ".acquire", ".release", ".acq_rel"})
      check_atomic(std::string(order) + scope + ".add", "u32", 4, 5, 9, 14);
  }
}

TEST_CASE("Forms: atomics on vectors of every length and type") {
  struct Type {
    const char* name;
    int length, bytes;
    u32 one, two, sum;  // elements
  };
  std::size_t turn = 0;
  const u32 f1 = std::bit_cast<u32>(1.0F), f2 = std::bit_cast<u32>(2.0F), f3 = std::bit_cast<u32>(3.0F);
  for (const Type& t : {Type{"f32", 2, 4, f1, f2, f3},
                        {"f32", 4, 4, f1, f2, f3},
                        {"f16", 8, 2, 0x3c00, 0x4000, 0x4200},
                        {"f16", 2, 2, 0x3c00, 0x4000, 0x4200},
                        {"bf16", 4, 2, 0x3f80, 0x4000, 0x4040},
                        {"f16x2", 4, 4, 0x3c003c00, 0x40004000, 0x42004200},
                        {"bf16x2", 2, 4, 0x3f803f80, 0x40004000, 0x40404040}}) {
    for (const std::string name : {"add", "min", "max"}) {
      for (const bool red : {false, true}) {
        const bool single = std::string(t.name) == "f32";
        if (single && name != "add") continue;
        const char* const scopes[] = {".relaxed.cta", ".release.cluster", red ? ".relaxed.gpu" : ".acquire.gpu",
                                      red ? ".release.sys" : ".acq_rel.sys"};
        const std::string stem = t.bytes == 4 ? (single ? "%f" : "%r") : "%h", bits = std::to_string(8 * t.bytes);
        std::string values, olds, load, store;
        for (int i = 0; i < t.length; ++i) {
          const std::string r = stem + std::to_string(10 + i), o = stem + std::to_string(20 + i);
          values += (i == 0 ? "{" : ", ") + r;
          olds += (i == 0 ? "{" : ", ") + o;
          load += "ld.global.b" + bits + " " + r + ", [%base+" + std::to_string(64 + t.bytes * i) + "];\n";
          if (!red) store += "st.global.b" + bits + " [%base+" + std::to_string(128 + t.bytes * i) + "], " + o + ";\n";
        }
        const std::string form = std::string(red ? "red" : "atom") + scopes[turn++ / 2 % 4] + ".global." + name +
                                 (single ? "" : ".noftz") + (t.length == 4 ? ".L2::cache_hint" : "") + ".v" +
                                 std::to_string(t.length) + "." + t.name + " ";
        CAPTURE(form);
        TestMemory memory(device_of("sm_100a"), 256);
        std::memset(memory.as<char>(), 0, 256);
        auto* const bytes = memory.as<unsigned char>();
        for (int i = 0; i < t.length; ++i) {
          std::memcpy(bytes + t.bytes * i, &t.one, static_cast<std::size_t>(t.bytes));
          std::memcpy(bytes + 64 + t.bytes * i, &t.two, static_cast<std::size_t>(t.bytes));
        }
        run_ptx(
            kernel_text("setp.ne.u32 %p1, %t, 0; @%p1 bra E; createpolicy.fractional.L2::evict_first.b64 %d5, 1.0;\n" +
                            load + form + (red ? "" : olds + "}, ") + "[%base], " + values + "}" +
                            (t.length == 4 ? ", %d5" : "") + ";\n" + store + "E:",
                        "sm_100a"),
            memory, {}, "sm_100a");
        const u32 expected = name == "add" ? t.sum : name == "min" ? t.one : t.two;
        for (int i = 0; i < t.length; ++i) {
          CHECK(std::memcmp(bytes + t.bytes * i, &expected, static_cast<std::size_t>(t.bytes)) == 0);
          if (!red) CHECK(std::memcmp(bytes + 128 + t.bytes * i, &t.one, static_cast<std::size_t>(t.bytes)) == 0);
        }
      }
    }
  }
}

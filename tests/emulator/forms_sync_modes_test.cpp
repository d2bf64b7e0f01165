// Forms of barriers, mbarriers, clusters, warps and hints with every modifier, against their expected effects.
#include "emulator/thread_words.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

u32 other_warp(u32 i) {
  return i ^ 32;
}

// Each thread stores its number, waits, and reads that of the corresponding thread of the other warp.
std::string exchange(const std::string& wait) {
  return "st.shared.u32 [%r6], %t;\n" + wait + "\nxor.b32 %r7, %r6, 128; ld.shared.u32 %r10, [%r7];";
}

}  // namespace

TEST_CASE("Forms: barriers with .cta and .aligned, and both ways of combining") {
  for (const char* wait :
       {"bar.cta.sync 0;", "bar.cta.sync 3, 64;", "barrier.cta.sync 0;", "barrier.cta.sync.aligned 2, 64;"})
    check_threads(exchange(wait), other_warp);
  const std::string above = "setp.gt.u32 %p1, %t, 10; ", pick = " selp.u32 %r10, 1, 0, %p2;";
  for (const char* name : {"bar.cta", "barrier.cta"}) {
    for (const bool both : {false, true}) {
      for (const char* count : {"0, ", "3, 64, "}) {
        const std::string aligned = std::string(name) == "bar.cta" ? "" : ".aligned";
        check_threads(above + name + ".red." + (both ? "and" : "or") + aligned + ".pred %p2, " + count + "%p1;" + pick,
                      [both](u32) { return both ? 0U : 1U; });
        check_threads(above + name + ".red.popc" + aligned + ".u32 %r10, " + count + "%p1;", [](u32) { return 53U; });
      }
    }
  }
  for (const std::string stem : {"bar.cta", "barrier.cta", "barrier"}) {
    check_threads("mov.u32 %r10, 5; setp.lt.u32 %p1, %t, 32; @%p1 bra R; st.shared.u32 [%r6], %t;\n" + stem +
                      ".arrive" + (stem == "barrier" ? ".aligned" : "") + " 1, 64; bra E;\nR: " + stem +
                      ".sync 1, 64; ld.shared.u32 %r10, [%r6+128];\nE:",
                  [](u32 i) { return i < 32 ? i + 32 : 5; });
  }
}

TEST_CASE("Forms: mbarriers with every order, scope and space") {
  // Two arrivals of each of 32 threads complete a phase; each thread reads data of the other warp.
  const auto waits = [](const std::string& arrive, const std::string& wait) {
    return "setp.ne.u32 %p1, %t, 0; @%p1 bra I; mbarrier.init.shared.b64 [%r1+512], 64;\nI: bar.sync 0;\n" +
           exchange(arrive + "\nW: " + wait + " @!%p2 bra W;");
  };
  const std::string plain = "mbarrier.arrive.shared.b64 %d3, [%r1+512];";
  for (const std::string order : {"", ".release.cta", ".release.cluster"}) {
    for (const char* space : {".shared", ".shared::cta", ".shared::cluster"}) {
      const bool token = std::string(space) != ".shared::cluster";
      check_threads(waits("mbarrier.arrive" + order + space + ".b64 " + (token ? "%d3" : "_") + ", [%r1+512];",
                          "mbarrier.try_wait.parity.shared.b64 %p2, [%r1+512], 0;"),
                    other_warp);
    }
  }
  for (const char* wait : {".acquire.cta", ".acquire.cluster", ""}) {
    for (const std::string kind : {"test_wait", "try_wait"}) {
      check_threads(waits(plain, "mbarrier." + kind + wait + ".shared.b64 %p2, [%r1+512], %d3;"), other_warp);
      check_threads(waits(plain, "mbarrier." + kind + ".parity" + wait + ".shared::cta.b64 %p2, [%r1+512], 0;"),
                    other_warp);
    }
  }
  // No data of the other warp is read, because relaxed operations do not order accesses.
  const std::string initialise =
      "setp.ne.u32 %p1, %t, 0; @%p1 bra I; mbarrier.init.shared.b64 [%r1+512], 64;\nI: bar.sync 0;\n";
  for (const char* scope : {".cta", ".cluster"}) {
    check_threads(initialise + "mbarrier.arrive.relaxed" + scope +
                      ".shared.b64 %d3, [%r1+512];\nW: mbarrier.try_wait.relaxed" + scope +
                      ".shared.b64 %p2, [%r1+512], %d3; @!%p2 bra W; mov.u32 %r10, 6;",
                  [](u32) { return 6U; });
  }
  // One thread. An arrival that arrive_drop removes is not expected in the next phase.
  const std::string one = "setp.ne.u32 %p1, %t, 0; mov.u32 %r10, 0; @%p1 bra E; mbarrier.init.shared.b64 [%r1], 3;\n";
  const std::string polls =
      "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0; mbarrier.test_wait.parity.shared.b64 %p3, "
      "[%r1], 1; selp.u32 %r10, 1, 0, %p2; @%p3 add.u32 %r10, %r10, 2;\nmbarrier.inval.shared.b64 "
      "[%r1];\nE:";
  check_threads(one +
                    "mbarrier.arrive_drop.shared.b64 %d3, [%r1]; mbarrier.arrive.noComplete.shared.b64 %d4, [%r1], 1;\n"
                    "mbarrier.arrive.shared.b64 %d5, [%r1]; mbarrier.arrive.shared.b64 %d3, [%r1], 2;\n" +
                    polls,
                [](u32 i) { return i == 0 ? 2U : 0U; });
  for (const char* space : {".shared", ".shared::cta", ".shared::cluster"}) {
    check_threads(
        one + "mbarrier.expect_tx" + space + ".b64 [%r1], 8; mbarrier.expect_tx.relaxed.cluster" + space +
            ".b64 [%r1], 16;\nmbarrier.arrive.shared.b64 %d3, [%r1], 3; mbarrier.complete_tx.relaxed.cluster" + space +
            ".b64 [%r1], 24;\n" + polls,
        [](u32 i) { return i == 0 ? 1U : 0U; });
  }
  check_threads(
      initialise +
          "cp.async.ca.shared.global.L2::64B [%r6], [%d2], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%r1+512];\n"
          "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1+512], 0; @!%p2 bra W; ld.shared.u32 %r10, [%r6];",
      [](u32 i) { return 100 + i; });
  check_threads(
      "createpolicy.fractional.L2::evict_unchanged.b64 %d5, 1.0; cp.async.ca.shared.global.L2::cache_hint.L2::256B "
      "[%r6], "
      "[%d2], 4, %d5; cp.async.wait_all; ld.shared.u32 %r10, [%r6];",
      [](u32 i) { return 100 + i; });
}

TEST_CASE("Forms: policies of every priority and the rest of the hints") {
  for (const char* policy :
       {"fractional.L2::evict_normal.b64 %d5, 0.25;", "fractional.L2::evict_last.L2::evict_first.b64 %d5, 0.5;",
        "fractional.L2::evict_unchanged.L2::evict_unchanged.b64 %d5, 0.5;"}) {
    check_threads(std::string("createpolicy.") + policy + " ld.global.L2::cache_hint.u32 %r10, [%d2], %d5;",
                  [](u32 i) { return 100 + i; });
  }
  for (const char* first : {"evict_first", "evict_normal", "evict_unchanged", "evict_last"}) {
    check_threads(std::string("createpolicy.range.L2::") + first +
                      ".L2::evict_first.b64 %d5, [%base], 128, 256; "
                      "ld.global.L2::cache_hint.u32 %r10, [%d2], %d5;",
                  [](u32 i) { return 100 + i; });
  }
  for (const char* scope : {"cta", "cluster", "sys"}) {
    check_threads(std::string("fence.proxy.tensormap::generic.release.") + scope +
                      "; fence.proxy.tensormap::generic.acquire." + scope + " [%base], 128; mov.u32 %r10, 4;",
                  [](u32) { return 4U; });
  }
}

TEST_CASE("Forms: matches of 64 bits, reductions of a warp, uniform branches") {
  check_threads("cvt.u64.u32 %d3, %t; and.b64 %d3, %d3, 3; shl.b64 %d3, %d3, 40; match.any.sync.b64 %r10, %d3, -1;",
                [](u32 i) { return 0x11111111U << (i % 4); });
  check_threads("match.all.sync.b64 %r10|%p1, %base, -1; selp.u32 %r10, %r10, 7, %p1;", [](u32) { return ~0U; });
  check_threads("redux.sync.max.u32 %r10, %t, -1;", [](u32 i) { return i | 31; });
  check_threads("redux.sync.max.s32 %r10, %t, -1;", [](u32 i) { return i | 31; });
  check_threads("redux.sync.and.b32 %r10, %t, -1;", [](u32 i) { return i & 32; });
  check_threads("redux.sync.or.b32 %r10, %t, -1;", [](u32 i) { return i | 31; });
  check_threads(
      "mov.u32 %r10, 1; mov.u32 %r7, 1;\nways: .branchtargets A, B;\nbrx.idx.uni %r7, ways;\nA: mov.u32 %r10, 2;\nB: "
      "add.u32 "
      "%r10, %r10, 5;",
      [](u32) { return 6U; });
  check_threads("mov.u32 %r10, 1; setp.gt.u32 %p1, %t, 40; @!%p1 bra S; st.global.u32 [%d2], %r10; ret.uni; S:",
                [](u32) { return 1U; });
}

namespace {

struct Combined {
  const char* name;
  const char* type;
  u64 old, value, expected;
};

}  // namespace

TEST_CASE("Forms: stores and reductions in another block's memory, of every type") {
  // Block 0 performs one operation on 16 bytes of `room` in block 1.
  const auto sent = [](const std::string& operation, const std::string& load, int bytes, u64 old) {
    return "setp.ne.u32 %p1, %t, 0; setp.ne.u32 %p2, %r2, 0; mov.u32 %r10, 0; mov.u64 %d10, " + std::to_string(old) +
           ";\n@%p1 bra A; @!%p2 bra A; st.shared.u64 [%r1], %d10; st.shared.u64 [%r1+8], %d10; "
           "mbarrier.init.shared::cta.b64 [%r1+512], 1;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+512], " +
           std::to_string(bytes) +
           "; fence.mbarrier_init.release.cluster;\nfence.proxy.async;\nA: barrier.cluster.arrive.release.aligned; "
           "barrier.cluster.wait.acquire.aligned;\nmapa.u64 %d11, %d12, 1; mapa.shared::cluster.u32 %r7, %r1, 1;\n"
           "@%p1 bra C; @%p2 bra R;\n" +
           operation +
           "\nbra C;\nR: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1+512], 0; "
           "@!%p3 bra R;\n" +
           load +
           "\nC: bar.warp.sync -1; barrier.cluster.arrive.relaxed.aligned; "
           "barrier.cluster.wait.aligned;";
  };
  const std::string generic = "cvt.u64.u32 %d12, %r1; cvta.shared.u64 %d12, %d12;\n";
  const auto compare = [](u64 expected, int bytes) {
    const std::string r = bytes == 8 ? "%d" : "%r", b = bytes == 8 ? "b64" : "b32";
    return "ld.shared." + b + " " + r + "13, [%r1]; mov." + b + " " + r + "14, " + std::to_string(expected) +
           "; setp.eq." + b + " %p4, " + r + "13, " + r + "14; selp.u32 %r10, 1, 0, %p4;";
  };
  const auto one = [](u32 i) { return i == 32 ? 1U : 0U; };
  const RunShape pair = {.grid = 2, .block = 32, .cluster = 2};
  for (const Combined& c : {Combined{"add", "u32", 5, 9, 14},
                            {"add", "s32", 5, 9, 14},
                            {"add", "u64", u64{5} << 40, 9, (u64{5} << 40) + 9},
                            {"min", "u32", 5, 9, 5},
                            {"min", "s32", 0xffffffff, 9, 0xffffffff},
                            {"max", "u32", 5, 9, 9},
                            {"max", "s32", 0xffffffff, 9, 9},
                            {"inc", "u32", 9, 9, 0},
                            {"dec", "u32", 0, 9, 9},
                            {"and", "b32", 12, 10, 8},
                            {"or", "b32", 12, 10, 14},
                            {"xor", "b32", 12, 10, 6}}) {
    const int bytes = std::string(c.type).ends_with("64") ? 8 : 4;
    const std::string r = bytes == 8 ? "%d15" : "%r15", b = bytes == 8 ? "b64" : "b32";
    check_threads(generic + sent("mov." + b + " " + r + ", " + std::to_string(c.value) +
                                     "; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." +
                                     c.name + "." + c.type + " [%r7], " + r + ", [%r7+512];",
                                 compare(c.expected, bytes), bytes, c.old),
                  one, pair);
  }
  struct Stored {
    const char* type;
    const char* stem;
    int bytes;
  };
  for (const Stored& s : {Stored{"b32", "%r", 4},
                          {"u32", "%r", 4},
                          {"s32", "%r", 4},
                          {"f32", "%f", 4},
                          {"b64", "%d", 8},
                          {"u64", "%d", 8},
                          {"s64", "%d", 8},
                          {"f64", "%g", 8}}) {
    for (const int length : {1, 2, 4}) {
      if (length * s.bytes > 16) continue;
      std::string set, list;
      for (int i = 0; i < length; ++i) {
        const std::string r = s.stem + std::to_string(11 + i),
                          from = (s.bytes == 8 ? "%d2" : "%r2") + std::to_string(i);
        set += std::string(s.bytes == 8 ? "mov.b64 " : "mov.b32 ") + from + ", " + std::to_string(77 + i) + "; mov.b" +
               std::to_string(8 * s.bytes) + " " + r + ", " + from + ";\n";
        list += (i == 0 ? "" : ", ") + r;
      }
      const std::string v = length == 1 ? "" : ".v" + std::to_string(length);
      if (length > 1) list = "{" + list + "}";
      check_threads(
          generic + sent(set + "st.async.shared::cluster.mbarrier::complete_tx::bytes" + v + "." + s.type + " [%r7], " +
                             list + ", [%r7+512];",
                         "ld.shared.u32 %r10, [%r1+" + std::to_string(s.bytes * (length - 1)) + "];", s.bytes * length,
                         1),
          [length](u32 i) { return i == 32 ? 76U + static_cast<u32>(length) : 0U; }, pair);
    }
  }
  check_threads(
      generic +
          "mapa.u64 %d11, %d12, 1; getctarank.u64 %r10, %d11; barrier.cluster.arrive.aligned; "
          "barrier.cluster.wait.aligned;",
      [](u32) { return 1U; }, pair);
}

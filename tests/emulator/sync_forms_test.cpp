// Forms of barriers, memory barriers, cp.async, clusters and hints, against their expected effects.
#include "emulator/thread_words.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr u32 kThreads = 64;

}  // namespace

TEST_CASE("Forms: barriers that count, combine and are arrived at") {
  const std::string above = "setp.gt.u32 %p1, %t, 10; ", pick = " selp.u32 %r10, 1, 0, %p2;";
  const auto count = [](u32) { return kThreads - 11; };
  for (const char* name : {"bar", "barrier", "barrier.cta"}) {
    const std::string stem = above + name + ".red.", aligned = std::string(name) == "bar" ? "" : ".aligned";
    check_threads(stem + "popc" + aligned + ".u32 %r10, 0, %p1;", count);
    check_threads(stem + "popc" + aligned + ".u32 %r10, 3, 64, %p1;", count);
    check_threads(stem + "and" + aligned + ".pred %p2, 0, %p1;" + pick, [](u32) { return 0U; });
    check_threads(stem + "or" + aligned + ".pred %p2, 2, 64, %p1;" + pick, [](u32) { return 1U; });
    check_threads(stem + "popc" + aligned + ".u32 %r10, 0, !%p1;", [](u32) { return 11U; });
  }
  // The second warp writes and continues; the first reads the data.
  for (const char* name : {"bar", "barrier"}) {
    const std::string stem = name;
    check_threads("mov.u32 %r10, 5; setp.lt.u32 %p1, %t, 32; @%p1 bra R; st.shared.u32 [%r6], %t;\n" + stem +
                      ".arrive 1, 64; bra E;\nR: " + stem + ".sync 1, 64; ld.shared.u32 %r10, [%r6+128];\nE:",
                  [](u32 i) { return i < 32 ? i + 32 : 5; });
  }
}

TEST_CASE("Forms: fences and hints leave data as it was") {
  for (const char* text : {"membar.cta;",
                           "membar.gl;",
                           "membar.sys;",
                           "fence.sc.gpu;",
                           "fence.acq_rel.cluster;",
                           "fence.acquire.sys;",
                           "fence.proxy.alias;",
                           "fence.proxy.tensormap::generic.release.gpu;",
                           "fence.proxy.tensormap::generic.acquire.gpu [%base], 128;",
                           "fence.acquire.sync_restrict::shared::cluster.cluster;",
                           "fence.release.sync_restrict::shared::cta.cluster;",
                           "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
                           "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
                           "prefetch.global.L1 [%d2];",
                           "prefetch.L2 [%d2];",
                           "prefetch.global.L2::evict_last [%d2];",
                           "prefetchu.L1 [%d2];",
                           "applypriority.global.L2::evict_normal [%base], 128;",
                           "pmevent 3;",
                           "brkpt;",
                           "discard.global.L2 [%base+3840], 128;",
                           "griddepcontrol.wait;",
                           "griddepcontrol.launch_dependents;",
                           "cp.async.bulk.prefetch.L2.global [%base], 64;",
                           "nanosleep.u32 20;"}) {
    check_threads(std::string(text) + " ld.global.u32 %r10, [%d2]; add.u32 %r10, %r10, 1;",
                  [](u32 i) { return 101 + i; });
  }
  for (const char* policy :
       {"createpolicy.fractional.L2::evict_last.b64 %d5, 0.5;",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d5, 1.0;", "createpolicy.cvt.L2.b64 %d5, 0;",
        "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %d5, [%base], 128, 256;"}) {
    check_threads(std::string(policy) + " ld.global.L2::cache_hint.u32 %r10, [%d2], %d5; ",
                  [](u32 i) { return 100 + i; });
  }
  // A register pool belongs to the whole warpgroup.
  check_threads("setmaxnreg.dec.sync.aligned.u32 40; setmaxnreg.inc.sync.aligned.u32 64; mov.u32 %r10, 3;",
                [](u32) { return 3U; }, {.block = 128});
  check_threads("ldu.global.u32 %r10, [%d2];", [](u32 i) { return 100 + i; });
  check_threads("mov.u32 %r10, 1; setp.gt.u32 %p1, %t, 40; @%p1 exit;", [](u32 i) { return i > 40 ? 100 + i : 1; });
}

TEST_CASE("Forms: a trap ends the launch") {
  TestMemory memory(device_of("sm_100a"), 64);
  CHECK(fault_of(kernel_text("setp.eq.u32 %p1, %t, 7; @%p1 trap;", "sm_100a"), memory, {}, "sm_100a")
            .starts_with("trap"));
  CHECK(fault_of(kernel_text("setp.eq.u32 %p1, %t, 70; @%p1 trap;", "sm_100a"), memory, {}, "sm_100a") == "");
}

TEST_CASE("Forms: generic addresses and the spaces they lie in") {
  check_threads("cvt.u64.u32 %d3, %r6; cvta.shared.u64 %d4, %d3; st.u32 [%d4], %t; ld.shared.u32 %r10, [%r6];",
                [](u32 i) { return i; });
  check_threads(
      "cvt.u64.u32 %d3, %r6; cvta.shared.u64 %d4, %d3; cvta.to.shared.u64 %d5, %d4; cvt.u32.u64 %r7, %d5;"
      "sub.u32 %r10, %r7, %r1;",
      [](u32 i) { return 4 * i; });
  check_threads(
      "cvt.u64.u32 %d3, %r6; cvta.shared.u64 %d4, %d3; isspacep.shared %p1, %d4; isspacep.global %p2, %d4;"
      "isspacep.global %p3, %d2; isspacep.shared %p4, %d2; selp.u32 %r10, 1, 0, %p1; @%p2 add.u32 %r10, "
      "%r10, 2; @%p3 add.u32 %r10, %r10, 4; @%p4 add.u32 %r10, %r10, 8;",
      [](u32) { return 5U; });
}

TEST_CASE("Forms: an mbarrier's arrivals, bytes and end") {
  const std::string one =
      "setp.ne.u32 %p1, %t, 0; mov.u32 %r10, 0; @%p1 bra E; mbarrier.init.shared::cta.b64 [%r1], 3;\n";
  // Pending arrivals before each of three arrivals.
  check_threads(one +
                    "mbarrier.arrive.shared::cta.b64 %d3, [%r1]; mbarrier.arrive.shared::cta.b64 %d4, [%r1];\n"
                    "mbarrier.pending_count.b64 %r7, %d3; mbarrier.pending_count.b64 %r8, %d4;\n"
                    "mad.lo.u32 %r10, %r7, 10, %r8;\nmbarrier.inval.shared::cta.b64 [%r1];\nE:",
                [](u32 i) { return i == 0 ? 32U : 0U; });
  // The phase is incomplete while bytes are missing, and complete afterwards.
  check_threads(
      one +
          "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 8; mbarrier.expect_tx.shared.b64 [%r1], 16;\n"
          "mbarrier.arrive.shared::cta.b64 %d3, [%r1], 3;\n"
          "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r1], 0;\n"
          "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 24;\n"
          "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r1], 0;\n"
          "mbarrier.test_wait.shared::cta.b64 %p4, [%r1], %d3;\n"
          "selp.u32 %r10, 1, 0, %p2; @%p3 add.u32 %r10, %r10, 2; @%p4 add.u32 %r10, %r10, 4;\nE:",
      [](u32 i) { return i == 0 ? 6U : 0U; });
}

TEST_CASE("Forms: element copies, by group, all at once and by mbarrier") {
  const auto copied = [](u32 i) { return 100 + i; };
  check_threads(
      "cp.async.ca.shared.global [%r6], [%d2], 4; cp.async.commit_group; cp.async.wait_group 0;"
      "ld.shared.u32 %r10, [%r6];",
      copied);
  check_threads(
      "cp.async.ca.shared::cta.global.L2::128B [%r6], [%d2], 4; cp.async.wait_all; ld.shared.u32 %r10, [%r6];", copied);
  // Bytes beyond the requested ones are zero.
  check_threads(
      "shl.b32 %r8, %t, 4; add.u32 %r8, %r1, "
      "%r8; and.b64 %d3, %d2, -16; cp.async.cg.shared.global [%r8], [%d3], 16, 4; cp.async.wait_all;"
      "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r8]; or.b32 %r11, %r11, %r12; or.b32 %r11, %r11, %r13;"
      "add.u32 %r10, %r10, %r11; bar.sync 0;",
      [](u32 i) { return 100 + i / 4 * 4; });
  check_threads(
      "setp.ne.u32 %p1, %t, 0; @%p1 bra I; mbarrier.init.shared::cta.b64 [%r1+512], 64;\nI: bar.sync 0;\n"
      "cp.async.ca.shared.global [%r6], [%d2], 4; cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1+512];\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+512], 0; @!%p2 bra W; xor.b32 %r7, %r6, 4;\n"
      "ld.shared.u32 %r10, [%r7];",
      [](u32 i) { return 100 + (i ^ 1); });
}

TEST_CASE("Forms: a cluster's blocks store, reduce and copy into each other") {
  // Block 0 sends block 1 a word, a sum and 16 bytes; the words are 64 bytes further on, the mbarrier is at 512.
  const std::string body =
      "setp.ne.u32 %p1, %t, 0; setp.ne.u32 %p2, %r2, 0; mov.u32 %r10, 0;\n"
      "mov.u32 %r20, 40; mov.u32 %r21, 0; @%p1 bra A; st.shared.u32 [%r1+64], %r20;\n"
      "st.shared.v4.u32 [%r1+256], {%r20, %r20, %r20, %r20}; fence.proxy.async; @!%p2 bra A; "
      "mbarrier.init.shared::cta.b64 [%r1+512], 1;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+512], 24; fence.mbarrier_init.release.cluster;\n"
      "fence.proxy.async;\nA: barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
      "mapa.shared::cluster.u32 %r7, %r1, 1; getctarank.shared::cluster.u32 %r8, %r7;\n"
      "@%p1 bra C; @%p2 bra R;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], 7, [%r7+512];\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r7+64], 2, [%r7+512];\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7+128], [%r1+256], 16, [%r7+512];\n"
      "bra C;\nR: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r1+512], 0; @!%p3 bra R;\n"
      "ld.shared.u32 %r10, [%r1]; ld.shared.u32 %r11, [%r1+64]; ld.shared.u32 %r12, [%r1+140];\n"
      "add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12; mul.lo.u32 %r10, %r10, %r8;\n"
      "C: bar.warp.sync -1; barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";
  check_threads(body, [](u32 i) { return i == 32 ? 7U + 42 + 40 : 0U; }, {.grid = 2, .block = 32, .cluster = 2});
}

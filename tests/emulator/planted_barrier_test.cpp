// Mistakes with barriers, mbarriers, missing lanes, clusters, register pools of warpgroups, and kernels that do not
// end.
#include "emulator/planted.h"

using namespace tma_jit::testing;

TEST_CASE("Planted: mbarriers, their lives, counts and phases") {
  const std::string one = "setp.ne.u32 %p1, %t, 0; @%p1 bra END;\n";
  const Planted bugs[] = {
      {"an arrival before the init", "barrier", "mbarrier.arrive.shared.b64 %d1, [m];", 1},
      {"an arrival after the end", "barrier",
       one + "mbarrier.init.shared.b64 [m], 1;\nmbarrier.inval.shared.b64 [m];\nmbarrier.arrive.shared.b64 %d1, [m];\n"
             "END:",
       4},
      {"more arrivals than a phase has", "barrier",
       "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [m], 41;\nbar.sync 0;\n"
       "mbarrier.arrive.shared.b64 %d1, [m], 2;",
       3},
      {"a count of no arrivals", "barrier", one + "mbarrier.init.shared.b64 [m], 0;\nEND:", 2},
      {"more threads that drop out than there are", "barrier",
       one + "mbarrier.init.shared.b64 [m], 1;\nmbarrier.arrive_drop.shared.b64 %d1, [m], 2;\nEND:", 3},
      {"more bytes than an mbarrier counts", "barrier",
       one + "mbarrier.init.shared.b64 [m], 1;\nmbarrier.arrive.expect_tx.shared.b64 %d1, [m], 1048576;\nEND:", 3},
      {"a store over a live mbarrier", "barrier",
       one + "mbarrier.init.shared.b64 [m], 1;\nst.shared.u64 [m], %base;\nEND:", 3},
      {"a live mbarrier initialised again", "barrier", "mbarrier.init.shared.b64 [m], 1;", 1},
      {"an mbarrier that is never arrived at", "deadlock",
       one + "mbarrier.init.shared.b64 [m], 2;\nmbarrier.arrive.shared.b64 %d1, [m];\n"
             "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 bra AGAIN;\nEND:",
       4},
      {"a wait for the next phase", "deadlock",
       one + "mbarrier.init.shared.b64 [m], 1;\nmbarrier.arrive.shared.b64 %d1, [m];\n"
             "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 1;\n@!%p2 bra AGAIN;\nEND:",
       4},
      {"two warps of which each waits for the other",
       "deadlock",
       "setp.eq.u32 %p1, %t, 0; mov.u32 %r1, m; setp.ge.u32 %p3, %t, 32;\n"
       "@%p1 mbarrier.init.shared.b64 [m], 32;\n@%p1 mbarrier.init.shared.b64 [m+8], 32;\nbar.sync 0;\n"
       "@%p3 add.u32 %r1, %r1, 8;\nxor.b32 %r2, %r1, 8;\n"
       "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;\n@!%p2 bra AGAIN;\n"
       "mbarrier.arrive.shared.b64 %d1, [%r2];",
       7,
       0,
       {.block = 64}},
      {"an mbarrier used by another warp with nothing in between",
       "race",
       "setp.ge.u32 %p2, %t, 32; setp.eq.u32 %p1, %t, 0; mov.u32 %r1, 0;\n@%p1 mbarrier.init.shared.b64 [m], 33;\n"
       "@!%p2 bra END;\nLOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 2000; @%p3 bra LOOP;\n"
       "mbarrier.arrive.shared.b64 %d1, [m];\nEND:",
       5,
       2,
       {.block = 64}},
      {"a try_wait that is not repeated until it succeeds",
       "race",
       "setp.eq.u32 %p1, %t, 0; setp.ge.u32 %p3, %t, 480; mov.u32 %r1, 0;\n"
       "@%p1 mbarrier.init.shared.b64 [m], 32;\n@%p1 st.shared.u32 [s], %t;\nbar.sync 0;\n@!%p3 bra READ;\n"
       "LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 2000; @%p2 bra LOOP;\n"
       "st.shared.u32 [s], %r1;\nmbarrier.arrive.shared.b64 %d1, [m];\nbra END;\n"
       "READ: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\nld.shared.u32 %r2, [s];\nEND:",
       0,
       0,
       {.block = 512}},
      {"a word that its reader was told of by a relaxed arrival",
       "race",
       "setp.eq.u32 %p1, %t, 0; setp.ge.u32 %p3, %t, 32; @%p1 mbarrier.init.shared.b64 [m], 1; bar.sync 0;\n"
       "@%p1 st.shared.u32 [s], %t;\n@%p1 mbarrier.arrive.relaxed.cta.shared.b64 %d1, [m];\n@!%p3 bra END;\n"
       "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra AGAIN;\nld.shared.u32 %r1, [s];\nEND:",
       6,
       2,
       {.block = 64}},
  };
  check_planted("sm_90a", bugs);
}

TEST_CASE("Planted: barriers of threads, and lanes that are missing") {
  const Planted bugs[] = {
      {"bar.sync that one warp does not reach",
       "deadlock",
       "setp.lt.u32 %p1, %t, 32; @!%p1 bra END;\nbar.sync 1, 64;\nEND:",
       2,
       0,
       {.block = 64}},
      {"warps at different barriers",
       "deadlock",
       "setp.lt.u32 %p1, %t, 32; @%p1 bra LOW;\nbar.sync 1, 64;\nbra END;\nLOW: bar.sync 2, 64;\nEND:",
       2,
       4,
       {.block = 64}},
      {"a barrier with different thread counts",
       "barrier",
       "setp.lt.u32 %p1, %t, 32; @%p1 bra LOW;\nbar.sync 1, 64;\nbra END;\nLOW: bar.sync 1, 96;\nEND:",
       0,
       0,
       {.block = 96}},
      {"a barrier that a block does not have", "barrier", "bar.sync 16;", 1},
      {"a barrier of 33 threads", "barrier", "bar.sync 1, 33;", 1, 0, {.block = 64}},
      {"an aligned barrier in half a warp", "divergence", "setp.lt.u32 %p1, %t, 16;\n@%p1 bar.sync 0;", 2},
      {"halves of a warp at different barriers", "deadlock",
       "setp.lt.u32 %p1, %t, 16; @%p1 bra LOW;\nbar.sync 0;\nbra END;\nLOW: bar.sync 1;\nEND:", 2, 4},
      {"a shuffle whose mask does not name the lane", "divergence", "shfl.sync.idx.b32 %r1, %t, 0, 31, 65535;", 1},
      {"a shuffle from a lane that does not take part", "divergence",
       "setp.ge.u32 %p1, %t, 16; @%p1 bra END;\nshfl.sync.idx.b32 %r1, %t, 20, 31, 65535;\nEND:", 2},
      {"a vote of lanes that are elsewhere", "deadlock",
       "setp.ge.u32 %p1, %t, 16; setp.eq.u32 %p2, %t, 0; @%p1 bra HIGH;\nvote.sync.ballot.b32 %r1, %p2, -1;\nbra END;\n"
       "HIGH: bar.warp.sync -1;\nEND:",
       2, 4},
      {"setmaxnreg in half a warp",
       "divergence",
       "setp.lt.u32 %p1, %t, 16;\n@%p1 setmaxnreg.dec.sync.aligned.u32 40;",
       2,
       0,
       {.block = 128}},
      {"threads that poll for ever", "livelock",
       "AGAIN: ld.volatile.global.u32 %r1, [%base];\nsetp.ne.u32 %p1, %r1, 77;\n@%p1 bra AGAIN;"},
      {"two warps that poll for each other's store",
       "livelock",
       "setp.ge.u32 %p2, %t, 32; mov.u64 %d1, %base; add.u64 %d2, %base, 4; @%p2 add.u64 %d1, %base, 4;\n"
       "@%p2 mov.u64 %d2, %base;\nAGAIN: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n"
       "st.volatile.global.u32 [%d2], 1;",
       3,
       0,
       {.block = 64}},
      {"trap", "trap", "trap;", 1},
      {"an instruction nobody knows", "unsupported", "frobnicate.u32 %r1, %t;"},
      {"an instruction of another target", "unsupported", "tcgen05.fence::before_thread_sync;"},
  };
  check_planted("sm_90a", bugs);
}

TEST_CASE("Planted: clusters, and blocks of them that have left") {
  const std::string rank = "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p3, %t, 0; ";
  const std::string sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  const std::string peer =
      "mov.u32 %r2, s; mov.u32 %r3, m; mapa.shared::cluster.u32 %r4, %r2, 1; "
      "mapa.shared::cluster.u32 %r5, %r3, 1;\n";
  // Lines 1 and 2; the block of rank 1 exits before line 3.
  const std::string gone = rank + sync + peer +
                           "@!%p1 bra END;\nmov.u32 %r6, 0;\nLOOP: add.u32 %r6, %r6, 1; "
                           "setp.lt.u32 %p2, %r6, 4000; @%p2 bra LOOP;\n";
  const RunShape pair = {.grid = 2, .cluster = 2};
  // Addresses in block 1, in a launch without a cluster: the rank is above 24 bits of offset.
  const std::string beyond =
      "setp.eq.u32 %p3, %t, 0; @%p3 mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; "
      "mov.u32 %r1, s; mov.u32 %r3, m; add.u32 %r4, %r1, 0x1000000; add.u32 %r5, %r3, 0x1000000; mov.u16 %h1, 2;\n";
  const std::string sent = ".shared::cluster.mbarrier::complete_tx::bytes";
  const Planted bugs[] = {
      {"mapa to a block that is not there", "cluster", "mov.b32 %r1, s;\nmapa.shared::cluster.u32 %r2, %r1, 5;", 2},
      {"mapa to another block without a cluster", "cluster", "mov.b32 %r1, s;\nmapa.shared::cluster.u32 %r2, %r1, 1;",
       2},
      {"a store into another block without a cluster", "cluster", beyond + "st.shared::cluster.u32 [%r4], 7;", 2},
      {"an asynchronous store into another block without a cluster", "cluster",
       beyond + "@%p3 st.async.weak" + sent + ".u32 [%r4], 7, [%r5];", 2},
      {"an asynchronous sum into another block without a cluster", "cluster",
       beyond + "@%p3 red.async.relaxed.cluster" + sent + ".add.u32 [%r4], 7, [%r5];", 2},
      {"an arrival in another block without a cluster", "cluster",
       beyond + "@%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];", 2},
      {"a copy into another block without a cluster", "cluster",
       beyond + "@%p3 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [%r1], 16, [%r5];",
       2},
      {"a multicast to another block without a cluster", "cluster",
       beyond + "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], "
                "[%base], 16, [%r3], %h1;",
       2},
      {"a store into a block that has left", "cluster", gone + "st.shared::cluster.u32 [%r4], %t;\nEND:", 6, 0, pair},
      {"a load from a block that has left", "cluster", gone + "ld.shared::cluster.u32 %r7, [%r4];\nEND:", 6, 0, pair},
      {"an arrival in a block that has left", "cluster",
       gone + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];\nEND:", 6, 0, pair},
      {"a copy that lands in a block that has left", "cluster",
       rank + "mov.u32 %r3, m; @%p3 mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster;\n" + sync +
           peer + "@!%p1 bra END;\nmov.u32 %r6, 0;\nLOOP: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 4000; " +
           "@%p2 bra LOOP;\n@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%base], 16, "
           "[%r5];\nEND:",
       7, 0, pair},
      {"a store into a block that may not have started",
       "race",
       rank + "\n" + peer +
           "@%p1 bra LOW;\nst.shared.u32 [s], %t;\nbra END;\nLOW: st.shared::cluster.u32 [%r4], %t;\n"
           "END: " +
           sync,
       0,
       6,
       {.grid = 2, .block = 1, .cluster = 2}},
      {"an mbarrier that a peer uses without a word from its owner", "race|barrier",
       rank + "\n" + peer +
           "@%p3 mbarrier.init.shared.b64 [m], 2; fence.mbarrier_init.release.cluster;\n"
           "@%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];\n" +
           sync,
       4, 0, pair},
      {"an mbarrier that a peer uses with no fence after its init", "proxy",
       rank + "\n" + peer + "@%p3 mbarrier.init.shared.b64 [m], 2;\n" + sync +
           "@%p3 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];\n" + sync,
       5, 3, pair},
      {"a wait for a peer's mbarrier", "cluster",
       rank + "@%p3 mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; " + sync + peer +
           "cvt.u64.u32 %d1, %r5; cvta.shared.u64 %d1, %d1; @!%p1 bra END;\n" +
           "mbarrier.try_wait.parity.b64 %p2, [%d1], 0;\nEND: " + sync,
       4, 0, pair},
      {"a cluster's barrier arrived at twice", "barrier",
       "barrier.cluster.arrive.aligned;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", 2, 0, pair},
      {"a cluster's barrier waited for without an arrival", "barrier", "barrier.cluster.wait.aligned;", 1, 0, pair},
      {"a block that does not come to its cluster's barrier",
       "deadlock",
       rank + "@!%p1 bra LOOP;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nbra END;\n"
              "LOOP: mbarrier.init.shared.b64 [m], 1;\n"
              "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra AGAIN;\nEND:",
       3,
       6,
       {.grid = 2, .block = 1, .cluster = 2}},
      {"a multicast to a block that is not there",
       "cluster",
       "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.b32 %r1, s; mov.b32 %r2, m;\nmbarrier.init.shared.b64 [m], 1;\n"
       "fence.mbarrier_init.release.cluster; mov.u16 %h1, 5;\n"
       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%base], 16, "
       "[%r2], "
       "%h1;\nEND:",
       4,
       0,
       {.grid = 2, .cluster = 2}},
  };
  check_planted("sm_90a", bugs);
}

TEST_CASE("A copy that is still to land in a block that leaves is reported when it does") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, 4096);
  device.settings.policy = tma_jit::emulator::Policy::lazy;
  const std::string fault = fault_of(
      planted_text("mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, s; mov.u32 %r3, m;\n"
                   "mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; "
                   "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
                   "mapa.shared::cluster.u32 %r4, %r2, 1; mapa.shared::cluster.u32 %r5, %r3, 1;\n"
                   "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%base], 16, [%r5];",
                   "sm_90a"),
      memory, {.grid = 2, .block = 1, .cluster = 2});
  device.settings = {};
  CAPTURE(fault);
  CHECK(fault.starts_with("cluster: a copy to shared memory of block (1, 0, 0), which has exited\n  at planted.cu:4:"));
}

TEST_CASE("A block that leaves while its copy into other blocks is on its way is warned about, one that waits is not") {
  TestMemory memory(device_of("sm_90a"), 4096);
  const std::string start =
      "mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, s; mov.u32 %r3, m; mov.b16 %h1, 2;\n"
      "mbarrier.init.shared.b64 [m], 1; mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 16; st.shared.v4.u32 [s+16], "
      "{%r1, %r1, %r1, %r1}; fence.proxy.async.shared::cta; fence.mbarrier_init.release.cluster; "
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
      "@%p1 bra WAIT;\n";
  const std::string multicast =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%base], 16, [%r3], "
      "%h1;\n";
  const std::string send =
      "mapa.shared::cluster.u32 %r4, %r2, 1; mapa.shared::cluster.u32 %r5, %r3, 1; add.u32 %r6, %r2, 16;\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4], [%r6], 16, [%r5];\n";
  const std::string own =  // the expectation of the first block's own barrier
      "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [m], 16; bra LEAVE;\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra WAIT;\nLEAVE:\n";
  for (const std::string& copy : {multicast, send}) {
    for (const char* last : {"", "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"}) {
      CAPTURE(last);
      const auto warnings = warnings_of(start + copy + own + last, memory, tma_jit::emulator::Policy::lazy,
                                        {.grid = 2, .block = 1, .cluster = 2});
      CHECK(warnings.size() == (*last == '\0' ? 1U : 0U));
    }
  }
}

TEST_CASE("Planted: the registers of a warpgroup") {
  const Planted bugs[] = {
      {"setmaxnreg in one warp", "registers", "setmaxnreg.inc.sync.aligned.u32 240;", 1},
      {"setmaxnreg in three of four warps",
       "registers",
       "setp.ge.u32 %p1, %t, 96; @%p1 bra END;\nsetmaxnreg.dec.sync.aligned.u32 40;\nEND:",
       0,
       0,
       {.block = 128}},
      {"warps of a warpgroup that ask for different numbers",
       "registers",
       "setp.ge.u32 %p1, %t, 64; @%p1 bra HIGH;\nsetmaxnreg.dec.sync.aligned.u32 40;\nbra END;\n"
       "HIGH: setmaxnreg.dec.sync.aligned.u32 48;\nEND:",
       0,
       0,
       {.block = 128}},
      {"more registers than the pool has, and nobody gives any",
       "deadlock",
       "setmaxnreg.dec.sync.aligned.u32 104;\nbar.sync 0;\nsetmaxnreg.inc.sync.aligned.u32 240;",
       3,
       0,
       {.block = 512}},
      {"more registers than the block was launched with, though the processor has them",
       "deadlock",
       "setp.ge.u32 %p1, %t, 256; @%p1 bra GIVE;\nsetmaxnreg.inc.sync.aligned.u32 240;\nbra END;\n"
       "GIVE: setmaxnreg.dec.sync.aligned.u32 32;\nEND:",
       2,
       0,
       {.block = 384}},
      {"a decrease to more than there are", "registers", "setmaxnreg.dec.sync.aligned.u32 240;", 1, 0, {.block = 512}},
      {"an increase to fewer than there are",
       "registers",
       "setmaxnreg.dec.sync.aligned.u32 96;\nsetmaxnreg.inc.sync.aligned.u32 40;",
       2,
       0,
       {.block = 128}},
      {"a number that is no multiple of 8", "unsupported", "setmaxnreg.dec.sync.aligned.u32 41;", 1, 0, {.block = 128}},
  };
  check_planted("sm_90a", bugs);
}

// Mistakes with addresses, reads of unwritten memory, and unordered accesses.
#include "emulator/planted.h"

using namespace tma_jit::testing;

TEST_CASE("Planted: addresses out of bounds, in every space") {
  const Planted bugs[] = {
      {"a load past the end", "out of bounds", "ld.global.u32 %r1, [%base+65536];", 1},
      {"a load before the start", "out of bounds", "ld.global.u32 %r1, [%base+-4];", 1},
      {"one lane past the end", "out of bounds",
       "mul.wide.u32 %d1, %t, 2056;\nadd.u64 %d1, %d1, %base;\nld.global.u64 %d2, [%d1+1800];", 3},
      {"an atomic operation past the end", "out of bounds", "atom.global.add.u32 %r1, [%base+65536], 1;", 1},
      {"a null pointer", "out of bounds", "mov.u64 %d1, 0;\nld.u32 %r1, [%d1];", 2},
      {"a store to the parameters", "out of bounds", "mov.b64 %d1, p; st.global.u32 [%d1], %t;", 1},
      {"a parameter past the last", "out of bounds", "ld.param.u64 %d1, [p+8];", 1},
      {"shared memory past the end", "out of bounds", "ld.shared.u32 %r1, [s+65536];", 1},
      {"shared memory before the block's", "out of bounds", "mov.u32 %r2, 16;\nst.shared.u32 [%r2], %t;", 2},
      {"local memory past the end", "out of bounds", "st.local.u32 [l+16], %t;", 1},
      {"constants past the end", "out of bounds", "ld.const.u32 %r1, [constants+4096];", 1},
      {"a peer's shared memory past the end",
       "out of bounds",
       "mov.u32 %r1, s;\nmapa.shared::cluster.u32 %r2, %r1, 1;\nst.shared::cluster.u32 [%r2+65536], %t;\n"
       "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
       3,
       0,
       {.grid = 2, .cluster = 2}},
      {"a bulk copy from past the end", "out of bounds",
       "setp.ne.u32 %p1, %t, 0;\n@%p1 bra END;\nmov.b32 %r1, s; mov.b32 %r2, m;\nmbarrier.init.shared.b64 [m], 1;\n"
       "fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 %d1, [m], 32;\n"
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base+65520], 32, [%r2];\n"
       "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 bra AGAIN;\nEND:",
       7},
      {"a bulk copy into shared memory past the end", "out of bounds",
       "setp.ne.u32 %p1, %t, 0;\n@%p1 bra END;\nmov.b32 %r1, dyn; mov.b32 %r2, m;\nmbarrier.init.shared.b64 [m], 1;\n"
       "fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 %d1, [m], 4096;\n"
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base], 4096, [%r2];\n"
       "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 bra AGAIN;\nEND:",
       7},
      {"a matrix past the end of shared memory", "out of bounds",
       "mov.u32 %r1, s;\nadd.u32 %r1, %r1, 65536;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", 3},
  };
  check_planted("sm_90a", bugs);
}

TEST_CASE("Planted: misaligned addresses, in every space") {
  const Planted bugs[] = {
      {"a misaligned store", "misaligned", "st.global.u32 [%base+2], %t;", 1},
      {"a vector at a multiple of its element only", "misaligned", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%base+8];",
       1},
      {"a misaligned shared load",
       "misaligned",
       "st.shared.u32 [s], %t;\nld.shared.u64 %d1, [s+4];",
       2,
       0,
       {.block = 1}},
      {"a misaligned local store", "misaligned", "st.local.u32 [l+2], %t;", 1},
      {"a misaligned parameter", "misaligned", "ld.param.u32 %r1, [p+2];", 1},
      {"a misaligned atomic operation", "misaligned", "atom.shared.add.u32 %r1, [s+2], 1;", 1},
      {"a misaligned matrix", "misaligned", "mov.u32 %r1, s;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1+8];",
       2},
      {"a misaligned mbarrier", "misaligned", "mbarrier.init.shared.b64 [m+4], 1;", 1, 0, {.block = 1}},
      {"cp.async of 16 bytes at a multiple of 8", "misaligned",
       "mov.u32 %r1, s;\ncp.async.cg.shared.global [%r1], [%base+8], 16;", 2},
      {"a bulk copy of 8 bytes", "misaligned",
       "mov.b32 %r1, s;\ncp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 8;", 2},
      {"a bulk copy from a multiple of 8", "misaligned",
       "mov.b32 %r1, s;\ncp.async.bulk.global.shared::cta.bulk_group [%base], [%r1+8], 16;", 2},
      {"a tensor map at a multiple of 32", "misaligned", "prefetch.tensormap [%base+32];", 1},
  };
  check_planted("sm_90a", bugs);
}

TEST_CASE("Planted: shared memory that nothing has written") {
  const Planted bugs[] = {
      {"a load", "uninitialised", "ld.shared.u32 %r1, [s];\nst.global.u32 [%base], %r1;", 1},
      {"a load of four bytes of which two were written",
       "uninitialised",
       "cvt.u16.u32 %h1, %t;\nst.shared.u16 [s], %h1;\nld.shared.u32 %r1, [s];\nst.global.u32 [%base], %r1;",
       3,
       0,
       {.block = 1}},
      {"a copy out of shared memory", "uninitialised",
       "setp.ne.u32 %p1, %t, 0;\n@%p1 bra END;\nmov.b32 %r1, s;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 16;\ncp.async.bulk.commit_group;\n"
       "cp.async.bulk.wait_group 0;\nEND:",
       4},
      {"a matrix of eight rows, of which seven were written", "uninitialised",
       "mov.u32 %r1, s; mad.lo.u32 %r1, %t, 16, %r1; setp.lt.u32 %p1, %t, 7;\n"
       "@%p1 st.shared.v4.u32 [%r1], {%t, %t, %t, %t};\nbar.warp.sync -1;\n"
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
       4},
      {"an atomic operation", "uninitialised", "atom.shared.add.u32 %r1, [s], 1;", 1},
  };
  check_planted("sm_90a", bugs);
}

TEST_CASE("Planted: accesses to shared memory that nothing orders") {
  constexpr const char* kAddresses =
      "mov.b32 %r3, s; shl.b32 %r1, %t, 2; add.s32 %r2, %r1, %r3; xor.b32 %r4, %r1, 128; add.s32 %r4, %r4, %r3;\n";
  const std::string start = kAddresses;
  const Planted bugs[] = {
      {"warps that read each other's stores with no barrier",
       "race",
       start + "st.shared.u32 [%r2], %t;\nbar.sync 0;\nst.shared.u32 [%r2], %r1;\nld.shared.u32 %r5, [%r4];",
       0,
       4,
       {.block = 64}},
      {"a warp that overwrites what another still reads",
       "race",
       start + "st.shared.u32 [%r2], %t;\nbar.sync 0;\nld.shared.u32 %r5, [%r4];\nst.shared.u32 [%r2], %r5;",
       0,
       4,
       {.block = 64}},
      {"lanes that read each other's stores with no bar.warp.sync", "race",
       start + "st.shared.u32 [%r2], %t;\nxor.b32 %r4, %r2, 4;\nld.shared.u32 %r5, [%r4];", 4, 2},
      {"two warps that store to one word", "race", "st.shared.u32 [s], %t;", 1, 1, {.block = 64}},
      {"an atomic operation beside an ordinary store",
       "race",
       "setp.ge.u32 %p1, %t, 32;\n@%p1 bra ADD;\nst.shared.u32 [s], 0;\nbra END;\nADD:\n"
       "bar.warp.sync -1;\nnanosleep.u32 100;\natom.shared.exch.b32 %r1, [s], 1;\nEND:",
       0,
       3,
       {.block = 64}},
      {"warps at different barriers",
       "race",
       start +
           "setp.ge.u32 %p1, %t, 32;\n@%p1 bra HIGH;\nst.shared.u32 [%r2], %t;\nbar.arrive 1, 64;\nbra END;\nHIGH:\n"
           "bar.sync 2, 32;\nst.shared.u32 [%r4], %t;\nbar.sync 1, 64;\nEND:",
       0,
       4,
       {.block = 64}},
  };
  check_planted("sm_90a", bugs);
}

TEST_CASE("Planted: lanes of a warp that run ahead of others, where no bar.warp.sync holds them") {
  const std::string rows = "mov.b32 %r1, s; mad.lo.u32 %r1, %t, 16, %r1; setp.ne.u32 %p1, %t, 0;\n";
  const Planted bugs[] = {
      {"an mbarrier used by lanes that do not wait for the one that initialises it", "barrier",
       "setp.ne.u32 %p1, %t, 0; @%p1 bra USE;\nmbarrier.init.shared.b64 [m], 32;\nUSE:\n"
       "mbarrier.arrive.shared.b64 %d1, [m];",
       4},
      {"a word read by lanes that do not wait for the one that writes it", "uninitialised",
       "setp.ne.u32 %p1, %t, 0; @%p1 bra READ;\nst.shared.u32 [s], 5;\nfence.acq_rel.cta;\nREAD:\n"
       "ld.shared.u32 %r1, [s];\nst.global.u32 [%base], %r1;",
       5},
      {"one lane's arrival for lanes that may still read",
       "race",
       "mov.b32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1; setp.ge.u32 %p1, %t, 32; mov.u32 %r3, 0;\n"
       "st.shared.u32 [%r2], %t; setp.eq.u32 %p2, %t, 0; @%p2 mbarrier.init.shared.b64 [m], 1; bar.sync 0; @%p1 bra "
       "OTHER;\n"
       "AGAIN: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 200; @%p2 bra AGAIN;\n"
       "ld.shared.u32 %r4, [s];\n"
       "setp.eq.u32 %p2, %t, 0; @%p2 mbarrier.arrive.shared.b64 %d1, [m]; bra END;\n"
       "OTHER: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra OTHER;\n"
       "setp.eq.u32 %p2, %t, 32; @%p2 st.shared.u32 [s], 7;\nEND:",
       0,
       0,
       {.block = 64}},
      {"matrices whose rows other lanes wrote, with no bar.warp.sync", "race",
       rows + "st.shared.v4.u32 [%r1], {%t, %t, %t, %t};\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, "
              "%r5}, [%r1];",
       3, 2},
      {"a tensor map that one lane changed and the warp publishes, with no bar.warp.sync", "race",
       rows + "mad.lo.u32 %r2, %t, 4, %r1; mov.b32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1; st.shared.u32 [%r2], 0; "
              "bar.warp.sync -1;\n"
              "@!%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1], 1;\n"
              "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%base], [%r1], "
              "128;",
       4, 3},
  };
  check_planted("sm_90a", bugs);
}

// Mistakes with asynchronous copies, wgmma and tensor maps: proxies, missing or wrong waits, and registers in flight.
#include "emulator/planted.h"

using namespace tma_jit::testing;

namespace {

// Lines 1 to 3: one thread continues, with its 16 bytes of `s` written and `m` initialised.
const std::string kOne =
    "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.b32 %r1, s; mov.b32 %r2, m;\n"
    "st.shared.v4.u32 [s], {%t, %t, %t, %t}; fence.proxy.async.shared::cta;\n"
    "mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster;\n";
const std::string kExpect16 = "mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 16;\n";
const std::string kLoad16 =
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base], 16, [%r2];\n";
const std::string kStore16 = "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 16;\n";
const std::string kCommit = "cp.async.bulk.commit_group;\n";

std::string wait(const std::string& parity, const std::string& label) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p2, [m], " + parity + "; @!%p2 bra " + label + ";\n";
}

}  // namespace

TEST_CASE("Planted: copies into shared memory and what waits for them") {
  const std::string unannounced =
      "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.b32 %r1, s; mov.b32 %r2, m;\nmbarrier.init.shared.b64 [m], 1;\n";
  const Planted bugs[] = {
      {"a copy on an mbarrier whose init no fence made known", "proxy",
       unannounced + kExpect16 + kLoad16 + wait("0", "W") + "END:", 4, 2},
      {"a copied word read with no wait", "race",
       kOne + kExpect16 + kLoad16 + "ld.shared.u32 %r3, [s];\n" + wait("0", "W") + "END:", 0, 6},
      {"a copied word overwritten with no wait", "race",
       kOne + kExpect16 + kLoad16 + "st.shared.u32 [s], %t;\n" + wait("0", "W") + "END:", 0, 6},
      {"a wait for the phase before", "race",
       kOne + kExpect16 + kLoad16 + "mbarrier.test_wait.parity.shared.b64 %p2, [m], 1;\nld.shared.u32 %r3, [s];\n" +
           wait("0", "X") + "END:",
       0, 7},
      // If both copies complete at once, the second wait is for a phase that has already passed and never returns.
      {"a parity that is not flipped for the second copy", "race|deadlock",
       kOne + kExpect16 + kLoad16 + wait("0", "W") + kExpect16 + kLoad16 + wait("0", "X") +
           "ld.shared.u32 %r3, [s];\n" + wait("1", "Y") + "END:"},
      {"fewer bytes copied than expected", "deadlock",
       kOne + "mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 32;\n" + kLoad16 + wait("0", "W") + "END:", 6},
      {"more bytes copied than expected", "deadlock",
       kOne + "mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 16;\n" + kLoad16 + kLoad16 + wait("0", "W") +
           wait("1", "X") + "END:",
       0},
      {"an expect_tx that nothing fulfils", "barrier",
       "setp.ne.u32 %p1, %t, 0; @%p1 bra END;\nmbarrier.init.shared.b64 [m], 2;\n" + kExpect16 + "END:"},
      {"a tile that is loaded again while a warp reads it",
       "race",
       "setp.eq.u32 %p1, %t, 0; mov.b32 %r1, s; mov.b32 %r2, m; @!%p1 bra READY;\n"
       "mbarrier.init.shared.b64 [m], 1; mbarrier.init.shared.b64 [m+8], 1; fence.mbarrier_init.release.cluster;\n"
       "READY: bar.sync 0; @%p1 mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 16;\n"
       "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base], 16, [%r2];\n" +
           wait("0", "W") + "ld.shared.u32 %r3, [s];\n" +
           "@%p1 mbarrier.arrive.expect_tx.shared.b64 %d1, [m+8], 16;\n" +
           "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base], 16, [%r2+8];\n" +
           "X: mbarrier.try_wait.parity.shared.b64 %p2, [m+8], 0; @!%p2 bra X;",
       0,
       6,
       {.block = 64}},
      {"cp.async read with no wait", "race",
       "mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1;\nst.shared.u32 [%r1], %t;\n"
       "cp.async.ca.shared.global [%r1], [%base], 4;\ncp.async.commit_group;\nld.shared.u32 %r2, [%r1];\n"
       "cp.async.wait_group 0;",
       0, 3},
      {"cp.async waited for one group too few", "race",
       "mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1;\nst.shared.u32 [%r1], %t;\n"
       "cp.async.ca.shared.global [%r1], [%base], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
       "ld.shared.u32 %r2, [%r1];\ncp.async.wait_group 0;",
       0, 3},
      {"cp.async waited for by its warp and read by another",
       "race",
       "mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1; xor.b32 %r2, %r1, 128;\nst.shared.u32 [%r1], %t;\nbar.sync 0;\n"
       "cp.async.ca.shared.global [%r1], [%base], 4;\ncp.async.wait_all;\nld.shared.u32 %r3, [%r2];",
       0,
       4,
       {.block = 64}},
  };
  check_planted("sm_90a", bugs);
}

TEST_CASE("Planted: copies out of shared memory and what waits for them") {
  const std::string unfenced =
      "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.b32 %r1, s;\nst.shared.v4.u32 [s], {%t, %t, %t, %t};\n";
  const std::string wait_all = "cp.async.bulk.wait_group 0;\n";
  const std::string overwrite = "st.shared.u32 [s], %t;\n";
  const Planted bugs[] = {
      {"no proxy fence", "proxy", unfenced + kStore16 + kCommit + wait_all + "END:", 3, 2},
      {"a proxy fence by the copying thread, not by the writers",
       "proxy",
       "mov.b32 %r1, s; mad.lo.u32 %r3, %t, 4, %r1; setp.ne.u32 %p1, %t, 0;\nst.shared.u32 [%r3], %t;\n"
       "@!%p1 fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra END;\n"
       "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 256;\n" +
           kCommit + wait_all + "END:",
       6,
       2,
       {.block = 64}},
      {"an overwritten source", "race", kOne + kStore16 + kCommit + overwrite + wait_all + "END:", 0, 6},
      {"a wait for one group too few", "race",
       kOne + kStore16 + kCommit + "cp.async.bulk.wait_group.read 1;\n" + overwrite + wait_all + "END:", 0, 7},
      {"a copy that was not committed", "race",
       kOne + kStore16 + "cp.async.bulk.wait_group.read 0;\n" + overwrite + kCommit + wait_all + "END:", 0, 6},
      {"a wait by another thread", "race",
       "setp.ne.u32 %p1, %t, 0; setp.ne.u32 %p3, %t, 1; mov.b32 %r1, s;\n"
       "@!%p1 st.shared.v4.u32 [s], {%t, %t, %t, %t};\n@!%p1 fence.proxy.async.shared::cta;\n"
       "@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 16;\n@!%p1 cp.async.bulk.commit_group;\n"
       "@!%p3 cp.async.bulk.wait_group.read 0;\nbar.warp.sync -1;\n@!%p3 st.shared.u32 [s], %t;\n"
       "@!%p1 cp.async.bulk.wait_group 0;",
       0, 8},
  };
  check_planted("sm_90a", bugs);
}

namespace {

// A product of 64 x 8 x 16 whose operands are zeros in the first 2304 bytes of `dyn`; %f1 to %f4 are D. Lines 1 to 3.
std::string operands(const std::string& fence) {
  return "mov.u32 %r1, dyn; mad.lo.u32 %r2, %t, 32, %r1; mov.u32 %r3, 0; mov.b32 %f1, 0; mov.b32 %f2, 0; mov.b32 %f3, "
         "0;"
         "mov.b32 %f4, 0;\n"
         "st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3}; st.shared.v4.u32 [%r2+16], {%r3, %r3, %r3, %r3};\n" +
         fence + "bar.sync 0; shr.u32 %r4, %r1, 4; cvt.u64.u32 %d1, %r4; or.b64 %d1, %d1, 0x0000000800400000; " +
         "setp.eq.u32 %p1, %t, 9999;\n";
}

const std::string kFence = "fence.proxy.async.shared::cta; ";
const std::string kProduct =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %d1, %d1, %p1, 1, 1, 0, 0;\n";
const std::string kOpen = "wgmma.fence.sync.aligned;\n";
const std::string kClose = "wgmma.commit_group.sync.aligned;\n";
const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
const RunShape kWarpgroup = {.block = 128, .dynamic_shared = 4096};

}  // namespace

TEST_CASE("Planted: wgmma of what the warps of a warpgroup wrote, and nothing brought together") {
  std::string apart = operands(kFence);
  apart.erase(apart.find("bar.sync 0; "), 12);
  const Planted bugs[] = {{"operands that four warps wrote, with no barrier", "race",
                           apart + kOpen + kProduct + kClose + kWait, 5, 2, kWarpgroup}};
  check_planted("sm_90a", bugs);
  // Rows of A that only the warp itself reads need no barrier; B, at offset 4096, has one.
  const std::string own_rows =
      "mov.u32 %r1, dyn; mad.lo.u32 %r2, %t, 16, %r1; mov.u32 %r3, 0;\n"
      "st.shared.v4.u32 [%r2+4096], {%r3, %r3, %r3, %r3}; fence.proxy.async.shared::cta; bar.sync 0;\n"
      "shr.u32 %r5, %t, 5; and.b32 %r6, %t, 31; mad.lo.u32 %r5, %r5, 16, %r6; mad.lo.u32 %r2, %r5, 16, %r1; "
      "setp.lt.u32 %p3, %r6, 16;\n"
      "@%p3 st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3}; @%p3 st.shared.v4.u32 [%r2+1024], {%r3, %r3, %r3, %r3}; "
      "fence.proxy.async.shared::cta; bar.warp.sync -1;\n"
      "shr.u32 %r4, %r1, 4; cvt.u64.u32 %d1, %r4; or.b64 %d1, %d1, 0x0000000800400000; add.u64 %d2, %d1, 256; "
      "setp.eq.u32 %p1, %t, 9999;\n" +
      kOpen + "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %d1, %d2, %p1, 1, 1, 0, 0;\n" +
      kClose + kWait;
  TestMemory memory(device_of("sm_90a"), 4096);
  CHECK(fault_of(planted_text(own_rows, "sm_90a"), memory, {.block = 128, .dynamic_shared = 8192}) == "");
}

TEST_CASE("Planted: wgmma, its fences, registers and descriptors") {
  const std::string bad = "or.b64 %d1, %d1, 0x0000400000000000;\n", far = "or.b64 %d1, %d1, 0x3f00;\n";
  const Planted bugs[] = {
      {"no wgmma.fence before the first", "in flight", operands(kFence) + kProduct + kClose + kWait, 4, 0, kWarpgroup},
      {"an accumulator read before the wait", "in flight",
       operands(kFence) + kOpen + kProduct + kClose + "add.f32 %f5, %f1, %f1;\n" + kWait, 7, 5, kWarpgroup},
      {"an accumulator written before the wait", "in flight",
       operands(kFence) + kOpen + kProduct + kClose + "mov.b32 %f4, 0;\n" + kWait, 7, 5, kWarpgroup},
      {"an accumulator read while 256 products are in flight", "in flight",
       operands(kFence) + kOpen + "mov.u32 %r9, 0;\nL: " + kProduct + kClose +
           "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 256; @%p2 bra L;\nadd.f32 %f5, %f1, %f1;\n" + kWait,
       9, 6, kWarpgroup},
      {"a wait for one group too few", "in flight",
       operands(kFence) + kOpen + kProduct + kClose + "wgmma.wait_group.sync.aligned 1;\nst.global.f32 [%base], %f2;\n",
       8, 5, kWarpgroup},
      {"a wait with nothing committed", "in flight",
       operands(kFence) + kOpen + kProduct + kWait + "st.global.f32 [%base], %f2;\n", 7, 5, kWarpgroup},
      {"operands written with no proxy fence", "proxy", operands("") + kOpen + kProduct + kClose + kWait, 5, 2,
       kWarpgroup},
      {"operands overwritten before the wait", "race",
       operands(kFence) + kOpen + kProduct + kClose + "st.shared.u32 [%r2], %r3;\n" + kWait, 0, 7, kWarpgroup},
      {"operands that nothing has written", "uninitialised",
       "mov.u32 %r1, dyn; shr.u32 %r4, %r1, 4; cvt.u64.u32 %d1, %r4; setp.eq.u32 %p1, %t, 9999;\n" + kOpen + kProduct +
           kClose + kWait,
       3, 0, kWarpgroup},
      {"reserved bits of a matrix descriptor", "descriptor", operands(kFence) + bad + kOpen + kProduct + kClose + kWait,
       6, 0, kWarpgroup},
      {"a matrix beyond shared memory", "out of bounds", operands(kFence) + far + kOpen + kProduct + kClose + kWait, 6,
       0, kWarpgroup},
      {"a warp with another descriptor", "divergence",
       operands(kFence) + "setp.ge.u32 %p2, %t, 96; @%p2 or.b64 %d1, %d1, 0x0001000000000000;\n" + kOpen + kProduct +
           kClose + kWait,
       6, 0, kWarpgroup},
      {"three warps",
       "divergence",
       operands(kFence) + kOpen + kProduct + kClose + kWait,
       5,
       0,
       {.block = 96, .dynamic_shared = 4096}},
      {"a warpgroup of which one warp goes elsewhere", "deadlock",
       operands(kFence) + "setp.ge.u32 %p2, %t, 96; @%p2 bra END;\n" + kOpen + kProduct + kClose + kWait + "END:", 8, 0,
       kWarpgroup},
  };
  check_planted("sm_90a", bugs);
}

namespace {

// A map of 64 bytes at %base is built in `map`, field by field, in the shared memory of one warp; the following lines
// copy it to %base + 1024. Lines 1 and 2.
std::string built_map() {
  std::string body =
      "mov.u32 %r1, dyn; mov.b32 %r2, m; mov.u32 %r3, 0; add.u64 %d5, %base, 1024; setp.ne.u32 %p1, %t, 0;"
      "@%p1 bra BUILT;\nmbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; ";
  for (int i = 0; i < 128; i += 4) body += "st.shared.u32 [%r1+" + std::to_string(i) + "], %r3; ";
  const std::string map = "shared::cta.b1024.";
  body += "tensormap.replace.tile.global_address." + map + "b64 [%r1], %base; ";
  body += "tensormap.replace.tile.rank." + map + "b32 [%r1], 0; ";
  body += "tensormap.replace.tile.box_dim." + map + "b32 [%r1], 0, 16; ";
  body += "mov.u32 %r4, 16; tensormap.replace.tile.global_dim." + map + "b32 [%r1], 0, %r4; ";
  body += "tensormap.replace.tile.element_stride." + map + "b32 [%r1], 0, 1; ";
  body += "tensormap.replace.tile.elemtype." + map + "b32 [%r1], 2; ";
  for (const char* field : {"interleave_layout", "swizzle_mode", "fill_mode"})
    body += std::string("tensormap.replace.tile.") + field + "." + map + "b32 [%r1], 0; ";
  return body + "\nBUILT: bar.warp.sync -1;\n";
}

const std::string kPublish =
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d5], [%r1], 128;\n";
const std::string kAcquire = "fence.proxy.tensormap::generic.acquire.gpu [%d5], 128;\n";
const std::string kUse =
    "@%p1 bra END;\nmbarrier.arrive.expect_tx.shared.b64 %d1, [m], 64;\n"
    "cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%r1+128], [%d5, {%r3}], [%r2];\n" +
    wait("0", "W") + "END:";
const RunShape kMapShape = {.dynamic_shared = 1024};

}  // namespace

TEST_CASE("Planted: tensor maps that are none, or that the proxy was not told of") {
  const std::string replace = "@!%p1 tensormap.replace.tile.global_address.global.b1024.b64 [%d5], %base;\n";
  const std::string release = "fence.proxy.tensormap::generic.release.gpu;\n";
  const Planted bugs[] = {
      {"128 bytes that are no map", "tensor map", built_map() + kUse, 6, 0, kMapShape},
      {"a map in shared memory", "tensor map",
       built_map() + "cvta.shared.u64 %d5, 0; cvt.u64.u32 %d6, %r1; or.b64 %d5, %d5, %d6;\n" + kUse, 7, 0, kMapShape},
      {"a map that was published and not acquired", "proxy", built_map() + kPublish + kUse, 7, 4, kMapShape},
      {"a map that was acquired before it was published", "proxy", built_map() + kAcquire + kPublish + kUse, 8, 5,
       kMapShape},
      {"a map of which another was acquired", "proxy",
       built_map() + kPublish + "fence.proxy.tensormap::generic.acquire.gpu [%base], 128;\n" + kUse, 8, 4, kMapShape},
      {"a field replaced in global memory and not released", "proxy",
       built_map() + kPublish + kAcquire + replace + kAcquire + kUse, 10, 6, kMapShape},
      {"a field replaced in global memory and not acquired", "proxy",
       built_map() + kPublish + kAcquire + replace + release + kUse, 10, 6, kMapShape},
  };
  check_planted("sm_90a", bugs);
  auto& device = device_of("sm_90a");
  TestMemory memory(device, 65536);
  for (const std::string& right : {kPublish + kAcquire, kPublish + replace + release + kAcquire}) {
    std::memset(memory.as<char>(), 0, 65536);
    CHECK(fault_of(planted_text(built_map() + right + kUse, "sm_90a"), memory, kMapShape) == "");
  }
}

TEST_CASE("A block that leaves while a copy still reads its memory is warned about, one that waits is not") {
  TestMemory memory(device_of("sm_90a"), 4096);
  const std::string copy =
      "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.b32 %r1, s; st.shared.v4.u32 [s], {%t, %t, %t, %t}; "
      "fence.proxy.async.shared::cta;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 16; cp.async.bulk.commit_group;\n";
  for (const char* wait : {"", "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group 0;"}) {
    for (const auto policy : {tma_jit::emulator::Policy::eager, tma_jit::emulator::Policy::lazy}) {
      const auto warnings = warnings_of(copy + wait + " END:", memory, policy);
      CHECK(warnings.size() == (*wait == '\0' ? 1U : 0U));
    }
  }
}

// Lines that ptxas 13.0 refuses although it accepts each modifier and each operand in other combinations, and variants
// that it accepts: the decoder must agree. Determined by assembling all combinations that the table of forms permits.
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

// Returns why the line is refused for the target; "" if it is accepted.
std::string refusal(const std::string& line, const char* arch) {
  const std::string text = kernel_text(".reg .b128 %q<4>; .local .align 16 .b8 l[64];\nLINE: " + line, arch,
                                       ".const .align 16 .b8 c[64];\n.shared .align 16 .b8 s[1024];\n");
  try {
    emulator::driver::Library library(device_of(arch), text);
    library.kernel("test");
  } catch (const emulator::Fault& fault) {
    return fault.text();
  }
  return "";
}

struct Lines {
  const char* arch;
  std::vector<const char*> taken, refused;
};

void check(const Lines& lines) {
  for (const char* line : lines.taken) {
    CAPTURE(std::string(line));
    CHECK(refusal(line, lines.arch) == "");
  }
  for (const char* line : lines.refused) {
    CAPTURE(std::string(line));
    CHECK(refusal(line, lines.arch).starts_with("unsupported: "));
  }
}

}  // namespace

TEST_CASE("Operations and types of atomic operations agree") {
  check({"sm_90a",
         {"atom.add.u64 %d1, [%d2], %d3;", "atom.add.s32 %r1, [%d2], %r3;", "atom.add.noftz.bf16x2 %r1, [%d2], %r3;",
          "atom.add.f64 %d1, [%d2], %d3;", "atom.max.s64 %d1, [%d2], %d3;", "atom.inc.u32 %r1, [%d2], %r3;",
          "atom.and.b64 %d1, [%d2], %d3;", "atom.exch.b32 %r1, [%d2], %r3;", "atom.cas.b16 %h1, [%d2], %h3, %h4;",
          "red.or.b32 [%d2], %r3;", "red.min.u32 [%d2], %r3;", "red.global.max.noftz.v2.f16 [%d2], {%h1, %h2};",
          "red.global.add.v4.f32 [%d2], {%f1, %f2, %f3, %f4};",
          "atom.global.add.L2::cache_hint.v2.f32 {%f1, %f2}, [%d2], {%f3, %f4}, %d5;",
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b32 [%r1], [%r2], %r3, "
          "[%r4];",
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r1], %d1, [%r2];"},
         {"atom.add.s64 %d1, [%d2], %d3;", "atom.add.b32 %r1, [%d2], %r3;", "atom.add.f16 %h1, [%d2], %h3;",
          "atom.add.noftz.f32 %f1, [%d2], %f3;", "atom.min.f32 %f1, [%d2], %f3;",
          "atom.max.noftz.bf16 %h1, [%d2], %h3;", "atom.inc.s32 %r1, [%d2], %r3;", "atom.and.u64 %d1, [%d2], %d3;",
          "atom.exch.f32 %f1, [%d2], %f3;", "atom.cas.u32 %r1, [%d2], %r3, %r4;", "red.xor.s32 [%d2], %r3;",
          "red.add.s64 [%d2], %d3;", "red.global.max.v2.f32 [%d2], {%f1, %f2};",
          "red.global.add.v2.f16 [%d2], {%h1, %h2};", "atom.global.add.v2.f32 {%f1, %f2}, [%d2], {%f3, %f4}, %d5;",
          "atom.global.add.L2::cache_hint.v2.f32 {%f1, %f2}, [%d2], {%f3, %f4};",
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s64 [%r1], [%r2], %r3, "
          "[%r4];",
          "red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r3, [%r2];",
          "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.s32 [%r1], %r3, [%r2];"}});
}

TEST_CASE("Orders, scopes, spaces and caches of loads and stores agree") {
  check({"sm_90a",
         {"ld.relaxed.gpu.u32 %r1, [%d1];", "ld.acquire.cta.shared.u32 %r1, [s];", "ld.volatile.global.u32 %r1, [%d1];",
          "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%r1, %r2, %r3, %r4}, [%d1];", "ld.cs.u32 %r1, [%d1];",
          "ld.mmio.relaxed.sys.global.u32 %r1, [%d1];", "ld.global.L2::cache_hint.u32 %r1, [%d1], %d2;",
          "ld.const.v2.u32 {%r1, %r2}, [c];", "ld.local.u32 %r1, [l];", "ld.b128 %q1, [%d1];",
          "st.release.sys.global.u32 [%d1], %r1;", "st.wt.u32 [%d1], %r1;", "st.local.u32 [l], %r1;",
          "st.global.L1::evict_last.u32 [%d1], %r1;", "discard.global.L2 [%d1], 128;"},
         {"ld.relaxed.u32 %r1, [%d1];",
          "ld.gpu.u32 %r1, [%d1];",
          "ld.weak.gpu.u32 %r1, [%d1];",
          "ld.volatile.gpu.u32 %r1, [%d1];",
          "ld.volatile.local.u32 %r1, [l];",
          "ld.acquire.gpu.const.u32 %r1, [c];",
          "ld.acquire.gpu.cg.u32 %r1, [%d1];",
          "ld.volatile.ca.u32 %r1, [%d1];",
          "ld.nc.u32 %r1, [%d1];",
          "ld.global.volatile.nc.u32 %r1, [%d1];",
          "ld.mmio.u32 %r1, [%d1];",
          "ld.mmio.relaxed.gpu.u32 %r1, [%d1];",
          "ld.mmio.relaxed.sys.v2.u32 {%r1, %r2}, [%d1];",
          "ld.shared.L1::evict_first.u32 %r1, [s];",
          "ld.ca.L1::evict_first.u32 %r1, [%d1];",
          "ld.const.L2::64B.u32 %r1, [c];",
          "ld.global.L2::evict_last.u32 %r1, "
          "[%d1];",
          "ld.global.L2::cache_hint.u32 %r1, [%d1];",
          "ld.global.u32 %r1, [%d1], %d2;",
          "ld.global.f16 %h1, [%d1];",
          "ld.v8.b16 {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}, [%d1];",
          "ldu.v4.b64 {%d1, %d2, %d3, %d4}, [%d5];",
          "st.release.global.u32 [%d1], %r1;",
          "st.gpu.u32 [%d1], %r1;",
          "st.relaxed.gpu.local.u32 [l], %r1;",
          "st.volatile.wb.u32 [%d1], %r1;",
          "st.local.L1::evict_last.u32 [l], %r1;",
          "st.bf16 [%d1], %h1;",
          "membar.gpu;",
          "discard.global.L2 [%d1], 64;",
          "st.param.b64 [p], %d1;",
          "ld.shared.L2::cache_hint.u32 %r1, [s], %d2;",
          "ld.v2.b128 {%q1, %q2}, [%d1];"}});
}

TEST_CASE("Accesses of 32 bytes are of global memory and of targets from sm_100 on") {
  const char* const wide = "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1];";
  const char* const wide64 = "st.global.v4.b64 [%d1], {%d2, %d3, %d4, %d5};";
  const char* const last = "ld.global.L2::evict_last.v8.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%d1];";
  check({"sm_90a", {}, {wide, wide64, last}});
  check({"sm_100a", {wide, wide64, last}, {"ld.shared.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [s];"}});
}

TEST_CASE("Orders, scopes and operands of mbarriers and fences agree") {
  check({"sm_90a",
         {"mbarrier.try_wait.acquire.cta.shared.b64 %p1, [s], %d1;", "mbarrier.test_wait.shared.b64 %p1, [s], %d1;",
          "mbarrier.arrive.shared.b64 %d1, [s];", "mbarrier.arrive.shared.b64 _, [s];",
          "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [s], %r1;",
          "mbarrier.complete_tx.relaxed.cta.shared.b64 [s], %r1;",
          "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;",
          "createpolicy.range.L2::evict_first.b64 %d1, [%d2], "
          "%r1, %r2;"},
         {"mbarrier.try_wait.acquire.shared.b64 %p1, [s], %d1;", "mbarrier.test_wait.cta.shared.b64 %p1, [s], %d1;",
          "mbarrier.arrive.shared.b64 [s];", "mbarrier.arrive.release.shared.b64 %d1, [s];",
          "mbarrier.arrive.cta.shared.b64 %d1, [s];", "mbarrier.arrive.noComplete.shared.b64 %d1, [s];",
          "mbarrier.arrive.release.cta.expect_tx.shared.b64 %d1, [s], %r1;",
          "mbarrier.arrive.expect_tx.shared::cluster.b64 %d1, [s], %r1;",
          "mbarrier.complete_tx.relaxed.shared.b64 [s], %r1;", "fence.proxy.tensormap::generic.acquire.gpu [%d1], 64;",
          "createpolicy.range.L2::evict_first.b64 %d1, [%d2], %d3, %d4;",
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b64 [%r1], {%d1, %d2, %d3, %d4}, [%r2];"}});
}

TEST_CASE("Comparisons, reciprocals and conversions agree with their types") {
  check({"sm_90a",
         {"setp.eq.b32 %p1, %r1, %r2;", "setp.lo.u32 %p1, %r1, %r2;", "setp.ltu.ftz.f32 %p1, %f1, %f2;",
          "set.lo.s32.u32 %r1, %r2, %r3;", "rcp.approx.ftz.f64 %g1, %g2;", "cvt.rn.f16.f32 %h1, %f1;",
          "cvt.ftz.sat.f32.f16 %f1, %h1;", "cvt.rni.sat.f64.f64 %g1, %g2;", "cvt.rz.f64.bf16 %g1, %h1;",
          "cvt.sat.u8.s32 %h1, %r1;", "cvt.rzi.ftz.s32.f32 %r1, %f1;", "cvt.rna.satfinite.tf32.f32 %r1, %f1;"},
         {"setp.lt.b32 %p1, %r1, %r2;", "setp.lo.s32 %p1, %r1, %r2;", "setp.ltu.ftz.f64 %p1, %g1, %g2;",
          "set.lo.u32.s32 %r1, %r2, %r3;", "set.lt.u32.b32 %r1, %r2, %r3;", "rcp.approx.f64 %g1, %g2;",
          "cvt.f16.f32 %h1, %f1;", "cvt.rn.f32.f16 %f1, %h1;", "cvt.rni.f16.f32 %h1, %f1;",
          "cvt.rn.sat.bf16.s32 %h1, %r1;", "cvt.rn.bf16.u8 %h1, %h2;", "cvt.sat.u64.u32 %d1, %r1;",
          "cvt.rzi.ftz.s32.f16 %r1, %h1;", "cvt.rn.f32.f32 %f1, %f2;", "cvt.rna.relu.tf32.f32 %r1, %f1;",
          "cvt.rn.satfinite.tf32.f32 %r1, %f1;", "tensormap.replace.tile.fill_mode.global.b1024.b32 [%d1], %r1;",
          "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d1], 1;"}});
  check({"sm_100a",
         {"cvt.rn.satfinite.tf32.f32 %r1, %f1;", "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d1], 1;",
          "{.reg.b8 x; cvt.rn.satfinite.e2m1x2.f32 x, %f1, %f2;}"},
         {"cvt.rn.satfinite.e2m1x2.f32 %h1, %f1, %f2;", "cvt.rn.f16x2.e2m1x2 %r1, %h1;"}});
}

TEST_CASE("What a modifier or an operand needs of the target agrees") {
  check({"sm_80",
         {"fma.rn.bf16 %h1, %h2, %h3, %h4;", "min.bf16 %h1, %h2, %h3;", "cvt.rn.bf16.f32 %h1, %f2;",
          "cvt.f32.bf16 %f1, %h2;", "cvt.rna.tf32.f32 %r1, %f2;", "atom.add.noftz.f16x2 %r1, [%d2], %r3;",
          "mbarrier.test_wait.parity.shared.b64 %p1, [s], %r1;", "mbarrier.arrive.shared.b64 %d1, [s];",
          "mbarrier.arrive.noComplete.shared.b64 %d1, [s], 2;", "ld.acquire.gpu.global.u32 %r1, [%d2];"},
         {"add.bf16 %h1, %h2, %h3;",
          "sub.bf16x2 %r1, %r2, %r3;",
          "mul.bf16x2 %r1, %r2, %r3;",
          "ex2.approx.ftz.bf16 %h1, %h2;",
          "tanh.approx.bf16 %h1, %h2;",
          "setp.eq.bf16 %p1, %h2, %h3;",
          "cvt.rn.bf16.s32 %h1, %r2;",
          "cvt.rzi.s32.bf16 %r1, %h2;",
          "cvt.f64.bf16 %g1, %h2;",
          "cvt.rn.bf16.f16 %h1, %h2;",
          "cvt.rn.tf32.f32 %r1, %f2;",
          "cvt.rn.satfinite.e4m3x2.f32 %h1, %f2, %f3;",
          "mbarrier.try_wait.shared.b64 %p1, [s], %d1;",
          "mbarrier.arrive.expect_tx.shared.b64 %d1, [s], 16;",
          "mbarrier.arrive.shared.b64 %d1, [s], 2;",
          "mbarrier.arrive.relaxed.cta.shared.b64 %d1, [s];",
          "fence.acq_rel.cluster;",
          "ld.acquire.cluster.global.u32 %r1, [%d2];",
          "ld.shared::cluster.u32 %r1, [%r2];",
          "atom.add.noftz.bf16 %h1, [%d2], %h3;",
          "red.global.add.noftz.bf16x2 [%d2], %r3;",
          "min.u16x2 %r1, %r2, %r3;",
          "max.f32 %f1, %f2, %f3, %f4;"}});
  check({"sm_90a", {"max.f32 %f1, %f2, %f3;", "max.relu.s32 %r1, %r2, %r3;"}, {"max.f32 %f1, %f2, %f3, %f4;"}});
  check({"sm_100a", {"max.f32 %f1, %f2, %f3, %f4;"}, {"max.relu.u16x2 %r1, %r2, %r3;", "sub.s16x2 %r1, %r2, %r3;"}});
}

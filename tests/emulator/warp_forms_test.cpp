// Forms across lanes, in memory and in control flow, against loops over the lanes.
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "emulator/numeric/float_bits.h"
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

// Returns %r10 of each of 32 threads for a value of 7919 * thread modulo 13.
std::array<u32, 32> of_lanes(const std::string& body, const char* arch = "sm_100a") {
  TestMemory memory(device_of(arch), 4096);
  run_ptx(kernel_text("mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1; mul.lo.u32 %r1, %t, 7919; "
                      "rem.u32 %r1, %r1, 13;\n" +
                          body + "\nst.global.u32 [%d2], %r10;",
                      arch),
          memory, {}, arch);
  std::array<u32, 32> values{};
  std::copy_n(memory.as<u32>(), 32, values.begin());
  return values;
}

u32 value_of(u32 lane) {
  return lane * 7919 % 13;
}

template <class F> void check_lanes(const std::string& body, F expected) {
  CAPTURE(body);
  const auto values = of_lanes(body);
  for (u32 i = 0; i < 32; ++i) {
    CAPTURE(i);
    REQUIRE(values[i] == expected(i));
  }
}

template <class F> u32 folded(u32 start, F f) {
  u32 value = start;
  for (u32 i = 0; i < 32; ++i) value = f(value, i);
  return value;
}

}  // namespace

TEST_CASE("Forms: shuffles, votes, matches and reductions of a warp") {
  check_lanes("shfl.sync.bfly.b32 %r10, %r1, 5, 31, -1;", [](u32 i) { return value_of(i ^ 5); });
  check_lanes("shfl.sync.up.b32 %r10, %r1, 3, 0, -1;", [](u32 i) { return value_of(i < 3 ? i : i - 3); });
  check_lanes("shfl.sync.down.b32 %r10|%p1, %r1, 3, 31, -1; @!%p1 mov.u32 %r10, 99;",
              [](u32 i) { return i + 3 > 31 ? 99 : value_of(i + 3); });
  check_lanes("shfl.sync.idx.b32 %r10, %r1, %t, 0x181f, -1;", [](u32 i) { return value_of(i); });
  check_lanes("shfl.sync.idx.b32 %r10, %r1, 2, 0x181f, -1;", [](u32 i) { return value_of(i / 8 * 8 + 2); });
  check_lanes("setp.gt.u32 %p1, %r1, 6; vote.sync.ballot.b32 %r10, %p1, -1;",
              [](u32) { return folded(0, [](u32 mask, u32 i) { return mask | u32{value_of(i) > 6} << i; }); });
  check_lanes("setp.gt.u32 %p1, %r1, 6; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r10, 1, 0, %p2;",
              [](u32) { return 1U; });
  check_lanes("setp.gt.u32 %p1, %r1, 6; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r10, 1, 0, %p2;",
              [](u32) { return 0U; });
  check_lanes("setp.gt.u32 %p1, %r1, 60; vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r10, 1, 0, %p2;",
              [](u32) { return 1U; });
  check_lanes("match.any.sync.b32 %r10, %r1, -1;", [](u32 lane) {
    return folded(0, [lane](u32 mask, u32 i) { return mask | u32{value_of(i) == value_of(lane)} << i; });
  });
  check_lanes("match.all.sync.b32 %r10|%p1, 4, -1; selp.u32 %r10, %r10, 7, %p1;", [](u32) { return ~0U; });
  check_lanes("redux.sync.add.u32 %r10, %r1, -1;",
              [](u32) { return folded(0, [](u32 sum, u32 i) { return sum + value_of(i); }); });
  check_lanes("sub.u32 %r1, %r1, 6; redux.sync.min.s32 %r10, %r1, -1;", [](u32) { return static_cast<u32>(-6); });
  check_lanes("redux.sync.xor.b32 %r10, %r1, -1;",
              [](u32) { return folded(0, [](u32 sum, u32 i) { return sum ^ value_of(i); }); });
  check_lanes("elect.sync %r10|%p1, -1; selp.u32 %r10, 5, %r10, %p1;", [](u32 i) { return i == 0 ? 5U : 0U; });
  check_lanes("activemask.b32 %r10;", [](u32) { return ~0U; });
  check_lanes("bar.red.popc.u32 %r10, 0, %p1;", [](u32) { return 0U; });
}

TEST_CASE("Forms: a branch through a table takes each lane to its label") {
  check_lanes(
      "and.b32 %r2, %t, 3; mov.u32 %r10, 0;\nways: .branchtargets A, B, C, B;\nbrx.idx %r2, ways;\n"
      "A: add.u32 %r10, %r10, 1;\nB: add.u32 %r10, %r10, 10;\nC: add.u32 %r10, %r10, 100;",
      [](u32 i) { return i % 4 == 0   ? 111U
                         : i % 4 == 2 ? 100U
                                      : 110U; });
  TestMemory memory(device_of("sm_90a"), 4096);
  CHECK(fault_of(kernel_text("ways: .branchtargets A;\nbrx.idx %t, ways;\nA: mov.u32 %r1, 1;"), memory)
            .find("branches to label 1 of a table of 1") != std::string::npos);
  CHECK(fault_of(kernel_text("brx.idx %t, nowhere;"), memory).find("no branch targets nowhere") != std::string::npos);
}

namespace {

// 32 threads apply an atomic to one of two locations; every type's sum is exact.
void check_atomic(const std::string& operation, const std::string& value, u64 start, u64 expected, int bytes) {
  CAPTURE(operation);
  for (const char* space : {"global", "shared"}) {
    CAPTURE(space);
    TestMemory memory(device_of("sm_100a"), 4096);
    memory.as<u64>()[0] = start;
    const std::string stem = bytes == 8 ? "%d10" : bytes == 4 ? "%r10" : "%h10";
    const bool shared = std::string(space) == "shared";
    const std::string address = shared ? "[cell]" : "[%base]";
    std::string body = value + "\nld.global.u64 %d5, [%base];\n";
    if (shared) body += "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u64 [cell], %d5;\nbar.sync 0;\n";
    body += "red." + std::string(space) + "." + operation + " " + address + ", " + stem + ";\nbar.sync 0;\n";
    if (shared) body += "ld.shared.u64 %d6, [cell]; setp.eq.u32 %p1, %t, 0; @%p1 st.global.u64 [%base], %d6;\n";
    run_ptx(kernel_text(body, "sm_100a", ".shared .align 8 .b8 cell[8];\n"), memory, {}, "sm_100a");
    const u64 mask = bytes == 8 ? ~u64{0} : (u64{1} << (8 * bytes)) - 1;
    CHECK((memory.as<u64>()[0] & mask) == (expected & mask));
  }
}

}  // namespace

TEST_CASE("Forms: reductions in memory, of every type") {
  check_atomic("add.u32", "mov.u32 %r10, %t;", 4, 4 + 31 * 16, 4);
  check_atomic("add.u64", "cvt.u64.u32 %d10, %t;", 4, 4 + 31 * 16, 8);
  check_atomic("min.s32", "sub.u32 %r10, 3, %t;", 4, static_cast<u64>(-28), 4);
  check_atomic("max.u64", "cvt.u64.u32 %d10, %t;", 4, 31, 8);
  check_atomic("max.s64", "sub.u32 %r1, 3, %t; cvt.s64.s32 %d10, %r1;", static_cast<u64>(-50), 3, 8);
  check_atomic("and.b32", "mov.u32 %r10, 0xfff0;", 0xff3f, 0xff30, 4);
  check_atomic("or.b32", "shl.b32 %r10, 1, %t;", 0, 0xffffffff, 4);
  check_atomic("xor.b64", "cvt.u64.u32 %d10, %t;", 5, 5, 8);
  check_atomic("inc.u32", "mov.u32 %r10, 20;", 0, 32 % 21, 4);
  check_atomic("dec.u32", "mov.u32 %r10, 20;", 1, 11, 4);
  check_atomic("add.f32", "cvt.rn.f32.u32 %f1, %t; mov.b32 %r10, %f1;", 0, std::bit_cast<u32>(496.0F), 4);
  check_atomic("add.f64", "cvt.rn.f64.u32 %g1, %t; mov.b64 %d10, %g1;", 0, std::bit_cast<u64>(496.0), 8);
  check_atomic("add.noftz.f16x2", "mov.u32 %r10, 0x3c004000;", 0, 0x50005400, 4);   // 32 times 1 and 2
  check_atomic("add.noftz.bf16x2", "mov.u32 %r10, 0x3f804000;", 0, 0x42004280, 4);  // 32 times 1 and 2
  check_atomic("add.noftz.f16", "mov.b16 %h10, 0x3c00;", 0, 0x5000, 2);
}

TEST_CASE("Forms: atomics that return, and vectors of them") {
  TestMemory memory(device_of("sm_100a"), 4096);
  u32* const words = memory.as<u32>();
  words[0] = 7;
  run_ptx(kernel_text("atom.global.add.u32 %r1, [%base], 1; mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1;"
                      "st.global.u32 [%d2+128], %r1;",
                      "sm_100a"),
          memory, {}, "sm_100a");
  std::vector<u32> seen(words + 32, words + 64);
  std::ranges::sort(seen);
  for (u32 i = 0; i < 32; ++i) CHECK(seen[i] == 7 + i);
  words[0] = 5;
  run_ptx(kernel_text("setp.eq.u32 %p1, %t, 3; @!%p1 bra E; atom.global.cas.b32 %r1, [%base], 5, 9;"
                      "atom.global.cas.b32 %r2, [%base], 5, 11; atom.global.exch.b32 %r3, [%base], 12;"
                      "st.global.v4.u32 [%base+16], {%r1, %r2, %r3, 0};\nE:",
                      "sm_100a"),
          memory, {}, "sm_100a");
  CHECK(words[0] == 12);
  CHECK(words[4] == 5);
  CHECK(words[5] == 9);
  CHECK(words[6] == 9);
  std::fill_n(words, 16, 0U);
  run_ptx(kernel_text("mov.f32 %f1, 1.0; mov.f32 %f2, 2.0; red.global.add.v4.f32 [%base], {%f1, %f2, %f1, %f2};"
                      "mov.u32 %r1, 0x3f804000; red.global.add.noftz.v2.bf16x2 [%base+16], {%r1, %r1};"
                      "atom.global.v2.f32.add {%f3, %f4}, [%base+32], {%f1, %f2};",
                      "sm_100a"),
          memory, {}, "sm_100a");
  CHECK(std::bit_cast<float>(words[1]) == 64);
  CHECK(std::bit_cast<float>(words[2]) == 32);
  CHECK(words[5] == 0x42004280);
  CHECK(std::bit_cast<float>(words[9]) == 64);
}

TEST_CASE("Forms: loads and stores of 1 to 32 bytes a thread") {
  TestMemory memory(device_of("sm_100a"), 8192);
  auto* const bytes = memory.as<unsigned char>();
  const auto copied = [&](const std::string& element, int vector, int size, const std::string& stem) {
    CAPTURE(element);
    CAPTURE(vector);
    for (int i = 0; i < 2048; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
    std::fill_n(bytes + 4096, 2048, 0);
    std::string list;
    for (int i = 0; i < vector; ++i) list += (i > 0 ? ", " : "") + stem + std::to_string(10 + i);
    const std::string v = vector > 1 ? ".v" + std::to_string(vector) : "";
    if (vector > 1) list = "{" + list + "}";
    run_ptx(kernel_text("mul.wide.u32 %d1, %t, " + std::to_string(vector * size) + "; add.s64 %d2, %base, %d1;\n" +
                            "ld.global" + v + "." + element + " " + list + ", [%d2]; st.global" + v + "." + element +
                            " [%d2+4096], " + list + ";",
                        "sm_100a"),
            memory, {.block = 64}, "sm_100a");
    CHECK(std::memcmp(bytes, bytes + 4096, static_cast<std::size_t>(64 * vector * size)) == 0);
  };
  copied("u8", 1, 1, "%r");
  copied("s8", 2, 1, "%r");
  copied("b16", 4, 2, "%h");
  copied("u32", 2, 4, "%r");
  copied("f32", 8, 4, "%f");
  copied("b64", 4, 8, "%d");
  copied("f64", 2, 8, "%g");
  std::fill_n(bytes, 256, 0x80);
  run_ptx(kernel_text("mul.wide.u32 %d1, %t, 8; add.s64 %d2, %base, %d1; ld.global.s8 %d3, [%base+7];"
                      "st.global.u64 [%d2+4096], %d3;",
                      "sm_100a"),
          memory, {}, "sm_100a");
  CHECK(memory.as<u64>()[512] == ~u64{0x7f});
}

TEST_CASE("Forms: clusters that run take over those not launched yet, each once") {
  constexpr const char* kShared = ".shared .align 16 .b8 room[32];\n";
  constexpr const char* kBody =
      "setp.ne.u32 %p1, %t, 0; mov.u32 %r1, room; @%p1 bra E;\n"
      "mbarrier.init.shared::cta.b64 [%r1+16], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;\n"
      "mov.u32 %r2, 0; mov.u32 %r3, %ctaid.x;\n"
      "L: mul.wide.u32 %d1, %r3, 4; add.s64 %d2, %base, %d1; red.global.add.u32 [%d2], 1;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [%r1+16], 16;\n"
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r1+16];\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+16], %r2; @!%p2 bra W; xor.b32 %r2, %r2, 1;\n"
      "{ .reg .b128 q; ld.shared.b128 q, [%r1];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, q;\n"
      "@!%p3 bra E;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r4, %r5, %r6, _}, q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r7, q;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r8, q; }\n"
      "or.b32 %r7, %r7, %r8; setp.ne.u32 %p5, %r7, 0; @%p5 trap; setp.ne.u32 %p4, %r3, %r4; @%p4 trap; "
      "fence.proxy.async; bra L;\nE:";
  for (const auto policy : {emulator::Policy::eager, emulator::Policy::lazy, emulator::Policy::random,
                            emulator::Policy::split, emulator::Policy::starved}) {
    auto& device = device_of("sm_100a");
    device.settings.policy = policy;
    TestMemory memory(device, 4096);
    std::fill_n(memory.as<u32>(), 64, 0U);
    std::string body = kBody;
    if (policy == emulator::Policy::lazy)  // the cluster has a single block
      body.insert(body.find(".b128 [%r1]"), ".multicast::cluster::all");
    run_ptx(kernel_text(body, "sm_100a", kShared), memory, {.grid = 40}, "sm_100a");
    device.settings = {};
    for (int i = 0; i < 64; ++i) CHECK(memory.as<u32>()[i] == (i < 40 ? 1U : 0U));
  }
}

TEST_CASE("Split copies are seen half done, and never twice by the same count") {
  // One thread polls the last element of a bulk copy, which is in another part than the first element.
  constexpr const char* kShared = ".shared .align 128 .b8 room[2176];\n";
  constexpr const char* kBody =
      "setp.ne.u32 %p1, %t, 0; mov.u32 %r1, room; @%p1 bra E;\n"
      "mbarrier.init.shared::cta.b64 [%r1+2048], 1; fence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [%r1+2048], 2048;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%base], 2048, [%r1+2048];\n"
      "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1+2048], 0; @!%p2 bra W;\n"
      "ld.shared.u32 %r3, [%r1]; ld.shared.u32 %r4, [%r1+2044]; st.global.v2.u32 [%base+2048], {%r3, %r4};\nE:";
  auto& device = device_of("sm_90a");
  device.settings.policy = emulator::Policy::split;
  TestMemory memory(device, 4096);
  std::iota(memory.as<u32>(), memory.as<u32>() + 512, 100U);
  run_ptx(kernel_text(kBody, "sm_90a", kShared), memory);
  const auto counters = device.last;
  device.settings = {};
  CHECK(memory.as<u32>()[512] == 100);
  CHECK(memory.as<u32>()[513] == 100 + 511);
  CHECK(counters.asynchronous == 1);
}

// Mistakes in small kernels, each of which must be reported in its class.
#include "emulator/ptx_kernel.h"

using namespace tma_jit::testing;

namespace {

struct Bug {
  const char* name;
  const char* report;  // how the fault's text begins
  const char* body;
  RunShape shape{};
};

// %base is 4096 bytes of global memory, `s` shared memory, `m` room for mbarriers.
constexpr const char* kVariables = ".shared .align 128 .b8 s[1024];\n.shared .align 8 .b64 m[4];\n";

const Bug kBugs[] = {
    {"a load past the end", "out of bounds", "ld.global.u32 %r1, [%base+4096];"},
    {"a load before the start", "out of bounds", "ld.global.u32 %r1, [%base+-4];"},
    {"a misaligned store", "misaligned", "st.global.u32 [%base+2], %t;"},
    {"a store to the parameters", "out of bounds", "mov.b64 %d1, p; st.global.u32 [%d1], %t;"},
    {"shared memory past the end", "out of bounds", "ld.shared.u32 %r1, [s+65536];"},
    {"uninitialised shared memory", "uninitialised", "ld.shared.u32 %r1, [s];"},
    {"warps that read each other's stores with no barrier",
     "race",
     "mov.b32 %r3, s; shl.b32 %r1, %t, 2; add.s32 %r2, %r1, %r3; xor.b32 %r4, %r1, 128; add.s32 %r4, %r4, %r3;\n"
     "st.shared.u32 [%r2], %t; bar.sync 0; st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r4];",
     {.block = 64}},
    {"lanes that read each other's stores with no bar.warp.sync", "race",
     "mov.b32 %r3, s; shl.b32 %r1, %t, 2; add.s32 %r2, %r1, %r3; st.shared.u32 [%r2], %t; xor.b32 %r4, %r2, 4; "
     "ld.shared.u32 %r5, [%r4];"},
    {"two warps that store to one word", "race", "st.shared.u32 [s], %t;", {.block = 64}},
    {"an mbarrier used before its init", "barrier", "mbarrier.arrive.shared.b64 %d1, [m];"},
    {"more arrivals than a phase has", "barrier",
     "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [m], 41; bar.sync 0; mbarrier.arrive.shared.b64 %d1, [m], "
     "2;"},
    {"an mbarrier that is never arrived at", "deadlock",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mbarrier.init.shared.b64 [m], 2; mbarrier.arrive.shared.b64 %d1, [m];\n"
     "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra AGAIN; END:"},
    {"a store over a live mbarrier", "barrier",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mbarrier.init.shared.b64 [m], 1; st.shared.u64 [m], %base; END:"},
    {"a live mbarrier initialised again", "barrier", "mbarrier.init.shared.b64 [m], 1;"},
    {"an mbarrier used by another warp with nothing in between",
     "race",
     "setp.ge.u32 %p2, %t, 32; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [m], 33;\n"
     "@%p2 nanosleep.u32 100; @%p2 nanosleep.u32 100; @%p2 nanosleep.u32 100; @%p2 nanosleep.u32 100; @%p2 "
     "nanosleep.u32 100;\n"
     "@%p2 nanosleep.u32 100; @%p2 nanosleep.u32 100; @%p2 nanosleep.u32 100; @%p2 nanosleep.u32 100; @%p2 "
     "nanosleep.u32 100;\n"
     "@%p2 mbarrier.arrive.shared.b64 %d1, [m];",
     {.block = 64}},
    {"a copy on an mbarrier whose init no fence made known", "proxy",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mbarrier.init.shared.b64 [m], 1; mov.b32 %r1, s; mov.b32 %r2, m;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 16;\n"
     "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base], 16, [%r2];\n"
     "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra AGAIN; END:"},
    {"fewer bytes copied than expected", "deadlock",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; "
     "mov.b32 %r1, s; mov.b32 %r2, m;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 32;\n"
     "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base], 16, [%r2];\n"
     "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra AGAIN; END:"},
    {"a copied word read with no wait", "",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; "
     "mov.b32 %r1, s; mov.b32 %r2, m;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 16;\n"
     "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base], 16, [%r2];\n"
     "ld.shared.u32 %r3, [s]; END:"},
    {"a copy out of shared memory with no proxy fence", "proxy",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.b32 %r1, s; st.shared.v4.u32 [s], {%t, %t, %t, %t};\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 16; cp.async.bulk.commit_group; "
     "cp.async.bulk.wait_group 0; END:"},
    {"a copy out of shared memory that is overwritten", "race",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.b32 %r1, s; st.shared.v4.u32 [s], {%t, %t, %t, %t}; "
     "fence.proxy.async.shared::cta;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 16; cp.async.bulk.commit_group; st.shared.u32 [s], "
     "%t; cp.async.bulk.wait_group 0; END:"},
    {"a bulk copy of 8 bytes", "misaligned",
     "mov.b32 %r1, s; cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 8;"},
    {"an expect_tx that nothing fulfils", "barrier",
     "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mbarrier.init.shared.b64 [m], 2; mbarrier.arrive.expect_tx.shared.b64 %d1, "
     "[m], 16; END:"},
    {"bar.sync that one warp does not reach",
     "deadlock",
     "setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 64;",
     {.block = 64}},
    {"a barrier with different thread counts",
     "barrier",
     "setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 1, 96; @!%p1 bar.sync 1, 64;",
     {.block = 96}},
    {"an aligned barrier in half a warp", "divergence", "setp.lt.u32 %p1, %t, 16; @%p1 bar.sync 0;"},
    {"half a warp at an aligned barrier", "deadlock",
     "setp.lt.u32 %p1, %t, 16; @%p1 bra LOW; bar.sync 0; bra END; LOW: bar.sync 1; END:"},
    {"a shuffle whose mask does not name the lane", "divergence", "shfl.sync.idx.b32 %r1, %t, 0, 31, 65535;"},
    {"a tensor map that is none", "tensor map",
     "mov.b32 %r1, s; mov.b32 %r2, m; mov.u32 %r3, 0; setp.ne.u32 %p1, %t, 0; @%p1 bra END; mbarrier.init.shared.b64 "
     "[m], 1;\n"
     "fence.mbarrier_init.release.cluster; cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes "
     "[%r1], [%base, {%r3}], [%r2]; END:"},
    {"mapa to a block that is not there", "cluster", "mov.b32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 5;"},
    {"setmaxnreg in one warp", "registers", "setmaxnreg.inc.sync.aligned.u32 240;"},
    {"wgmma with no fence before it",
     "in flight",
     "mov.u64 %d1, 0; mov.u64 %d2, 0; setp.eq.u32 %p1, %t, 9999;\n"
     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %d1, %d2, %p1, 1, 1, 0, 0;",
     {.block = 128}},
    {"trap", "trap", "trap;"},
    {"threads that poll for ever", "livelock",
     "AGAIN: ld.volatile.global.u32 %r1, [%base]; setp.ne.u32 %p1, %r1, 77; @%p1 bra AGAIN;"},
    {"an instruction nobody knows", "unsupported", "frobnicate.u32 %r1, %t;"},
    {"wgmma on a target without it", "unsupported", "tcgen05.fence::before_thread_sync;"},
};

}  // namespace

TEST_CASE("Planted mistakes are reported in their class, under every policy and five seeds") {
  using tma_jit::emulator::Policy;
  auto& device = device_of("sm_90a");
  TestMemory memory(device, 4096);
  for (const Bug& bug : kBugs) {
    for (const Policy policy : {Policy::eager, Policy::lazy, Policy::random, Policy::split, Policy::starved}) {
      std::memset(memory.as<char>(), 0, 4096);
      int reported = 0;
      std::string last;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        tma_jit::emulator::Settings settings;
        settings.policy = policy;
        settings.seed = seed;
        settings.polls_before_livelock = 100'000;
        device.settings = settings;
        last = fault_of(kernel_text(bug.body, "sm_90a", kVariables), memory, bug.shape);
        if (!last.empty() && last.starts_with(bug.report)) ++reported;
      }
      CAPTURE(std::string(bug.name));
      CAPTURE(static_cast<int>(policy));
      CAPTURE(last);
      CHECK(reported > 0);
    }
  }
  device.settings = {};
}

TEST_CASE("A block that leaves while a copy still reads its memory is warned about, one that waits is not") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, 4096);
  const std::string copy =
      "setp.ne.u32 %p1, %t, 0; @%p1 bra END; mov.b32 %r1, s; st.shared.v4.u32 [s], {%t, %t, %t, %t}; "
      "fence.proxy.async.shared::cta;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 16; cp.async.bulk.commit_group;\n";
  for (const char* wait : {"", "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group 0;"}) {
    for (const auto policy : {tma_jit::emulator::Policy::eager, tma_jit::emulator::Policy::lazy}) {
      std::vector<std::string> warnings;
      device.settings.policy = policy;
      device.settings.warn = [&warnings](std::string_view text) { warnings.emplace_back(text); };
      CHECK(fault_of(kernel_text(copy + wait + " END:", "sm_90a", kVariables), memory) == "");
      CHECK(warnings.size() == (*wait == '\0' ? 1U : 0U));
      device.settings = {};
    }
  }
}

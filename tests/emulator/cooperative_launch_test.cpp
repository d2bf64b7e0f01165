// Cooperative launches: all blocks of a grid are resident together and synchronise at barriers of the grid.
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr u32 kBlocks = 24;

// The barrier of cooperative_groups::grid_group::sync() (cooperative_groups/details/sync.h of CUDA 13.0): block 0 adds
// a number that flips the top bit once all others have added one. Executed by thread 0 of each block, on the word at
// [%d1].
std::string grid_barrier(const std::string& name) {
  return "mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; sub.u32 %r3, 0x80000001, %r1;\n"
         "selp.b32 %r3, %r3, 1, %p1; bar.sync 0; setp.ne.u32 %p2, %t, 0; @%p2 bra " +
         name + "_MET;\natom.add.release.gpu.u32 %r4, [%d1], %r3;\n" + name +
         "_POLL: ld.acquire.gpu.u32 %r5, [%d1]; xor.b32 %r6, %r4, %r5; setp.ge.s32 %p3, %r6, 0; @%p3 bra " + name +
         "_POLL;\n" + name + "_MET: bar.sync 0;\n";
}

// Each block writes its word, and after the barrier copies that of the previous block, block 0 that of the last.
std::string exchange(const std::string& workspace) {
  return workspace +
         "mov.u32 %r10, %ctaid.x; mul.wide.u32 %d2, %r10, 4; add.u64 %d2, %d2, %base; setp.ne.u32 %p4, %t, 0;\n"
         "add.u32 %r11, %r10, 100; @!%p4 st.global.u32 [%d2], %r11;\n" +
         grid_barrier("A") +
         "add.u32 %r12, %r10, 1; mov.u32 %r13, %nctaid.x; rem.u32 %r12, %r12, %r13; mul.wide.u32 %d3, %r12, 4;\n"
         "add.u64 %d3, %d3, %base; @!%p4 ld.global.u32 %r14, [%d3];\n" +
         grid_barrier("B") + "@!%p4 st.global.u32 [%d2], %r14;";
}

const std::string kDriverWorkspace =
    "mov.u32 %r20, %envreg1; mov.u32 %r21, %envreg2; mov.b64 %d1, {%r21, %r20}; add.u64 %d1, %d1, 4;\n";
const std::string kOwnWorkspace = "add.u64 %d1, %base, 2048;\n";

std::string run(TestMemory& memory, const std::string& body, RunShape shape, emulator::Policy policy) {
  auto& device = device_of("sm_90a");
  std::memset(memory.as<u8>(), 0, 4096);
  device.settings = {};
  device.settings.policy = policy;
  device.settings.polls_before_livelock = 200'000;
  const std::string fault = fault_of(kernel_text(body), memory, shape);
  device.settings = {};
  return fault;
}

}  // namespace

TEST_CASE("The blocks of a cooperative launch meet at barriers of the grid") {
  TestMemory memory(device_of("sm_90a"), 4096);
  for (const emulator::Policy policy : {emulator::Policy::eager, emulator::Policy::lazy, emulator::Policy::random})
    for (const std::string& workspace : {kDriverWorkspace, kOwnWorkspace}) {
      CHECK(run(memory, exchange(workspace), {.grid = kBlocks, .block = 64, .cooperative = true}, policy) == "");
      for (u32 i = 0; i < kBlocks; ++i) CHECK(memory.as<u32>()[i] == 100 + (i + 1) % kBlocks);
    }
}

TEST_CASE("Blocks that are not launched together do not meet, which is reported") {
  TestMemory memory(device_of("sm_90a"), 4096);
  const RunShape shape{.grid = kBlocks, .block = 64};
  CHECK(run(memory, exchange(kOwnWorkspace), shape, emulator::Policy::random).starts_with("livelock"));
  CHECK(run(memory, exchange(kDriverWorkspace), shape, emulator::Policy::random).starts_with("out of bounds"));
}

TEST_CASE("A spin in which every atomic operation leaves memory as it was is no progress") {
  TestMemory memory(device_of("sm_90a"), 4096);
  for (const char* spin :
       {"L: atom.global.cas.b32 %r1, [%base], 1, 2; setp.ne.u32 %p1, %r1, 1; @%p1 bra L;",
        "L: atom.global.add.u32 %r1, [%base], 0; setp.ne.u32 %p1, %r1, 1; @%p1 bra L;",
        "L: atom.global.v2.f32.add {%f1, %f2}, [%base], {%f3, %f3}; setp.ne.f32 %p1, %f1, 0f3F800000; @%p1 bra L;",
        "mov.u32 %r2, s; st.shared.u32 [s], 7; L: atom.shared.exch.b32 %r1, [s], 7; setp.ne.u32 %p1, %r1, 1; @%p1 bra "
        "L;"}) {
    CAPTURE(std::string(spin));
    auto& device = device_of("sm_90a");
    std::memset(memory.as<u8>(), 0, 4096);
    device.settings = {};
    device.settings.polls_before_livelock = 50'000;
    device.settings.instruction_limit = 2'000'000;
    const std::string fault =
        fault_of(kernel_text(std::string("mov.f32 %f3, 0f00000000;\n") + spin, "sm_90a", ".shared .b32 s;\n"), memory,
                 {.block = 1});
    device.settings = {};
    CHECK(fault.starts_with("livelock: 50000 instructions without any change"));
  }
}

TEST_CASE("A cooperative launch of more blocks than the device holds is refused as libcuda does") {
  const auto& device = device_of("sm_90a");
  TestMemory memory(device_of("sm_90a"), 4096);
  const auto most = static_cast<unsigned>(device.info.sm_count * (device.info.threads_per_sm / 1024));
  CHECK(run(memory, "bar.sync 0;", {.grid = most, .block = 1024, .cooperative = true}, emulator::Policy::eager) == "");
  const std::string fault =
      run(memory, "bar.sync 0;", {.grid = most + 1, .block = 1024, .cooperative = true}, emulator::Policy::eager);
  CAPTURE(fault);
  CHECK(fault.starts_with("cooperative launch too large: a cooperative launch of " + std::to_string(most + 1)));
  CHECK(run(memory, "bar.sync 0;", {.grid = most + 1, .block = 1024}, emulator::Policy::eager) == "");
  CHECK(emulator::driver::result_of(emulator::FaultKind::too_large) == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

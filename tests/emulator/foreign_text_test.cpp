// PTX as written by compilers other than NVRTC.
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

TEST_CASE("An address of the parameters fits in 32 bits") {
  TestMemory memory(device_of("sm_90a"), 64);
  run_ptx(kernel_text("mov.b32 %r1, p; cvt.u64.u32 %d1, %r1; cvta.param.u64 %d2, %d1; ld.u64 %d3, [%d2];\n"
                      "st.global.u64 [%base], %d3; mov.b64 %d4, p; ld.param.u64 %d5, [%d4]; st.global.u64 [%base+8], "
                      "%d5; st.global.u64 [%base+16], %d1;"),
          memory, {.block = 1});
  CHECK(memory.as<u64>()[0] == memory.address());
  CHECK(memory.as<u64>()[1] == memory.address());
  CHECK(memory.as<u64>()[2] < (u64{1} << 32));
}

TEST_CASE("A directive begins anywhere: behind a brace, or behind another directive") {
  TestMemory memory(device_of("sm_90a"), 64);
  run_ptx(kernel_text("{.reg.b32 x;mov.b32 x,7;{.reg .b32 y;add.u32 y,x,1;st.global.u32 [%base],y;}}", "sm_90a",
                      ".shared.align 8.b8 room[16];\n"),
          memory, {.block = 1});
  CHECK(memory.as<u32>()[0] == 8);
  CHECK(fault_of(kernel_text("{.reg.b32.b16 x;}"), memory).starts_with("syntax"));
}

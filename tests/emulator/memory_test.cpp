// Loads and stores in every space.
#include "emulator/ptx_kernel.h"

using namespace tma_jit::testing;

TEST_CASE("Each thread stores at its own address") {
  TestMemory memory(device_of("sm_90a"), 4096);
  run_ptx(kernel_text("mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1; st.global.u32 [%d2], %t;"), memory,
          {.block = 100});
  for (std::uint32_t i = 0; i < 100; ++i) {
    CAPTURE(i);
    CHECK(memory.as<std::uint32_t>()[i] == i);
  }
}

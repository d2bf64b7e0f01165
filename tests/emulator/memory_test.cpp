// Loads and stores in every space.
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
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

TEST_CASE("Kernels' allocations are bounded in number, too") {
  emulator::GlobalMemory memory;
  REQUIRE(memory.allocate_in_kernel(7U << 20) != 0);  // of 8 MiB
  CHECK(memory.allocate_in_kernel(2U << 20) == 0);
  std::uint64_t last = 0, count = 0;
  while (const std::uint64_t next = memory.allocate_in_kernel(1)) {
    last = next;
    ++count;
  }
  CHECK(count > 1000);
  CHECK(count < 20'000);
  CHECK_FALSE(memory.free(last));  // the host cannot free a kernel's allocation
  CHECK(memory.free_in_kernel(last));
  CHECK_FALSE(memory.free_in_kernel(last));
  CHECK(memory.allocate_in_kernel(1) != 0);
}

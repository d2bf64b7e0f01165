// Kernels that store one word per thread, against a formula of the thread index.
#pragma once

#include <functional>
#include <string>

#include "emulator/ptx_kernel.h"

namespace tma_jit::testing {

struct WordKernel {
  std::string setup;  // sets %d2 to the address of the thread's first word
  u32 words = 1;      // per thread
  const char* declared = ".shared .align 128 .b8 room[1024];\n";
};

// Checks that `body` leaves the expected value in %r10 of each thread. Words of global memory are initialised to 100 +
// their index.
inline void check_words(const WordKernel& kernel, const std::string& body, const std::function<u32(u32)>& expected,
                        RunShape shape) {
  CAPTURE(body);
  TestMemory memory(device_of("sm_100a"), 4096);
  for (u32 i = 0; i < 1024; ++i) memory.as<u32>()[i] = 100 + i;
  run_ptx(kernel_text(kernel.setup + body + "\nst.global.u32 [%d2], %r10;", "sm_100a", kernel.declared), memory, shape,
          "sm_100a");
  for (u32 i = 0; i < shape.block * shape.grid; ++i) {
    CAPTURE(i);
    REQUIRE(memory.as<u32>()[std::size_t{kernel.words} * i] == expected(i));
  }
}

// The kernel runs in blocks of two warps: %r1 is `room`, %r6 the thread's word in it, %r2 the block.
inline void check_threads(const std::string& body, const std::function<u32(u32)>& expected,
                          RunShape shape = {.block = 64}) {
  static const WordKernel kernel = {
      "mov.u32 %r1, room; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %t;\n"
      "mul.wide.u32 %d1, %r4, 4; add.s64 %d2, %base, %d1; shl.b32 %r5, %t, 2; add.u32 %r6, %r1, %r5;\n"};
  check_words(kernel, body, expected, shape);
}

}  // namespace tma_jit::testing

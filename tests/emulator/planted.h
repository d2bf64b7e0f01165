// Small kernels with one mistake each, and the expected report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulator/ptx_kernel.h"

namespace tma_jit::testing {

// In the body, %base is 64 KiB of zeroed global memory, `s` shared memory, `m` space for mbarriers, `dyn` dynamic
// shared memory, and `l` 16 bytes of local memory. A line of the body is a line of planted.cu, from 1 on.
struct Planted {
  const char* name;
  const char* report;  // prefix of the report: its class, or several separated by '|'
  std::string body;
  int line = 0;   // the line of the report; 0: any line of the kernel
  int other = 0;  // the line of the other access, if there are two
  RunShape shape{};
};

// Each mistake must be reported under every policy within five seeds, with the right class and lines, the settings that
// reproduce it, and advice.
void check_planted(std::string_view arch, std::span<const Planted> bugs);

// Returns the body as lines of planted.cu in a kernel "test".
std::string planted_text(std::string_view body, std::string_view arch);

// Returns the warnings of a run of the body on sm_90a, which must end without a fault.
std::vector<std::string> warnings_of(std::string_view body, TestMemory& memory, emulator::Policy policy,
                                     RunShape shape = {});

}  // namespace tma_jit::testing

// Small kernels with a mistake each, and what must be said of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulator/ptx_kernel.h"

namespace tma_jit::testing {

// %base is 64 KiB of global memory that holds zeros, `s` shared memory, `m` room for mbarriers, `dyn` the dynamic
// shared memory, `l` 16 bytes of local memory. A line of the body is a line of the file planted.cu, from 1 on.
struct Planted {
  const char* name;
  const char* report;  // how the report begins: its class, or one of those between strokes
  std::string body;
  int line = 0;   // that the report is about; 0: any of the kernel
  int other = 0;  // of the other side, where there are two
  RunShape shape{};
};

// Each is reported under every policy within five seeds: in its class, with its lines, how to have it again and what to
// do.
void check_planted(std::string_view arch, std::span<const Planted> bugs);

// The body as lines of planted.cu in a kernel "test".
std::string planted_text(std::string_view body, std::string_view arch);

// What a run of the body on sm_90a, which ends with no fault, is warned about.
std::vector<std::string> warnings_of(std::string_view body, TestMemory& memory, emulator::Policy policy,
                                     RunShape shape = {});

}  // namespace tma_jit::testing

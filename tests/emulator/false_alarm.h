// Pairs of similar small kernels: correct ones, which must run without report or warning, and faulty ones.
#pragma once

#include <string>
#include <vector>

#include "emulator/ptx_kernel.h"

namespace tma_jit::testing {

// In the body, %base is 4 KiB of zeroed global memory, `s` is 1 KiB of shared memory and `m` has space for four
// mbarriers.
struct KernelVariant {
  const char* name;
  const char* report;  // prefix of the fault's text, or several separated by '|'; empty: neither fault nor warning
  std::string body;
  RunShape shape{};
};

// Runs each variant under every policy with five seeds. An error must be reported under each policy with at least one
// of the seeds.
void check_variants(const std::vector<KernelVariant>& variants, const char* arch = "sm_90a");

}  // namespace tma_jit::testing

// Small kernels beside each other: some are right and run with no report and no warning, some have a mistake.
#pragma once

#include <string>
#include <vector>

#include "emulator/ptx_kernel.h"

namespace tma_jit::testing {

// The body finds in %base 4 KiB of global memory that hold zeros, `s` is 1 KiB of shared memory and `m` room for four
// mbarriers.
struct Neighbour {
  const char* name;
  const char* report;  // how the fault's text begins, or one of those between strokes; empty: neither fault nor warning
  std::string body;
  RunShape shape{};
};

// Runs each under every policy and five seeds: a mistake is reported under each policy by one of the seeds at least.
void check_neighbours(const std::vector<Neighbour>& neighbours, const char* arch = "sm_90a");

}  // namespace tma_jit::testing

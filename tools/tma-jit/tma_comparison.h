// Compares kernels that use TMA with kernels that do not on the same problems, as shares of the device's limits.
#pragma once

#include <string>
#include <vector>

#include "console.h"
#include "settings.h"

namespace tma_jit::cli {

struct ComparedSide {
  std::string file;  // of the template that was used
  double median_us = 0;
  double share = 0;
  Error error;  // why `file` is empty
};

struct ComparedProblem {
  std::string kernel;
  std::string words;  // "M=4096 N=4096 K=4096"
  std::string peak;
  ComparedSide with_tma, without_tma;
};

// Measures copy and gemm on the settings' device.
std::vector<ComparedProblem> compare_tma(const Settings& settings);

std::string describe(const std::vector<ComparedProblem>& problems);
Json to_json(const std::vector<ComparedProblem>& problems);

}  // namespace tma_jit::cli

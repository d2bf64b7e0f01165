// The same problem with the kernels that use TMA and with those that do not, in shares of what bounds it.
#pragma once

#include <string>
#include <vector>

#include "console.h"
#include "settings.h"

namespace tma_jit::cli {

struct ComparedSide {
  std::string file;  // of the template that served
  double median_us = 0;
  double share = 0;
  Error error;  // where `file` is empty
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

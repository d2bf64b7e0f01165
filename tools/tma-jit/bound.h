// What limits a launch on its device, and the share of that limit that a measured time reaches.
#pragma once

#include "trial.h"

namespace tma_jit::cli {

// The limit is either arithmetic at `peak_tflops` or memory at `peak_gb_per_s`.
struct Bound {
  bool compute = false;
  double peak_tflops = 0;
  double peak_gb_per_s = 0;
  const char* unit = "";  // the type of arithmetic that the peak refers to
  double floor_us = 0;    // lower bound of a launch's time; 0 if unknown

  double share(double microseconds) const { return microseconds > 0 ? floor_us / microseconds : 0; }
};

Bound bound_of(const Trial& trial, const DeviceInfo& device);

// Returns e.g. "3352 GB/s" or "989.4 bf16 TFLOP/s".
std::string peak_of(const Bound& bound);

}  // namespace tma_jit::cli

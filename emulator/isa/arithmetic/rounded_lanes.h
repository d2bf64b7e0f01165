// Arithmetic with more to it than lanes.h has: a rounding mode, subnormals flushed, results kept in [0, 1] or above 0.
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator {

struct RoundedLanes : FormData {
  LaneFunction flush = nullptr;   // of sources and result
  LaneFunction finish = nullptr;  // of the result: .sat or .relu
  int rounding = 0;               // as fesetround() takes it
};

// d = lanes(a, b, c)
Step do_lanes_rounded(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator

// Arithmetic with a rounding mode, flushed subnormals, or saturation.
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

struct RoundedLanes : FormData {
  LaneFunction flush = nullptr;   // applied to sources and result
  LaneFunction finish = nullptr;  // applied to the result: .sat or .relu
  int rounding = 0;               // as for fesetround()
};

// d = lanes(a, b, c)
Step do_lanes_rounded(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa

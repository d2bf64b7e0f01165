// Loads and stores of a warp in global memory whose lanes all lie in one allocation, which is the rule: checked once
// for the warp, moved without a look at each lane.
#pragma once

#include "emulator/exec/program.h"

namespace tma_jit::emulator {

// False, and nothing done, where lanes need a look of their own: other spaces, several allocations, misalignment.
bool load_together(Warp& warp, const Op& op, Mask active);
bool store_together(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator

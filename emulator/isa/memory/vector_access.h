// Loads and stores of a warp in global memory whose lanes all lie in one allocation, which is the rule: checked once
// for the warp, moved without a look at each lane.
#pragma once

#include <string_view>

#include "emulator/check/access.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator {

// What the checkers are told of a load, store or atomic operation of the warp; of all its lanes at once.
check::Access generic_access(const Warp& warp, const Op& op, bool write, std::string_view what);

// False, and nothing done, where lanes need a look of their own: other spaces, several allocations, misalignment.
bool load_together(Warp& warp, const Op& op, Mask active);
bool store_together(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator

// Loads and stores of a warp whose lanes all access one allocation of global memory, the most frequent case, or the
// shared memory of their block in a launch whose races are not looked for. They are checked once for the warp and moved
// without checks of each lane.
#pragma once

#include <string_view>

#include "emulator/check/access.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

// Returns the access that the checkers are told of for a load, store or atomic operation, for all lanes of the warp at
// once.
check::Access generic_access(const Warp& warp, const Op& op, bool write, std::string_view what);

// Return false, without any effect, if lanes must be handled one by one: other spaces, several allocations, or
// misalignment.
bool load_together(Warp& warp, const Op& op, Mask active);
bool store_together(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa

// Control flow, barriers, and fences of the generic proxy. The comment of a handler names the fields of Op that it
// reads.
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator {

Step do_branch(Warp& warp, const Op& op, Mask active);
Step do_exit(Warp& warp, const Op& op, Mask active);
Step do_trap(Warp& warp, const Op& op, Mask active);
Step do_pause(Warp& warp, const Op& op, Mask active);  // nanosleep
Step do_nop(Warp& warp, const Op& op, Mask active);
// A fence: orders the accesses of the warp with respect to strong accesses.
Step do_fence(Warp& warp, const Op& op, Mask active);

// Barrier a of b threads. kind: 0 sync, 1 arrive, 2 red.popc, 3 red.and, 4 red.or (d, predicate c).
Step do_barrier(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator

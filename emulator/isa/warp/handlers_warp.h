// Exchanges between the lanes of a warp. The comment of a handler names the fields of Op that it reads.
#pragma once

#include "emulator/machine/atomic.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

enum class Shuffle : u8 { up, down, butterfly, index };
Step do_shuffle(Warp& warp, const Op& op, Mask active);
enum class Vote : u8 { all, any, uniform, ballot };
Step do_vote(Warp& warp, const Op& op, Mask active);
Step do_match(Warp& warp, const Op& op, Mask active);
Step do_redux(Warp& warp, const Op& op, Mask active);
Step do_elect(Warp& warp, const Op& op, Mask active);
Step do_active_mask(Warp& warp, const Op& op, Mask active);
Step do_warp_barrier(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa

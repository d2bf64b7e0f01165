// The instructions of wgmma. PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

Step do_wgmma(Warp& warp, const Op& op, Mask active);
Step do_wgmma_fence(Warp& warp, const Op& op, Mask active);
Step do_wgmma_commit(Warp& warp, const Op& op, Mask active);
Step do_wgmma_wait(Warp& warp, const Op& op, Mask active);  // immediate: groups that may be pending

}  // namespace tma_jit::emulator::isa

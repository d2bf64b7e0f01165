// cp.async: non-bulk copies of 4, 8 or 16 bytes per thread through the generic proxy, and their groups. PTX ISA 9.0,
// "cp.async". Also asynchronous stores to other blocks: "st.async", "red.async".
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

Step do_cp_async(Warp& warp, const Op& op, Mask active);  // [a] = [b], immediate bytes, of which c are read
Step do_cp_async_commit(Warp& warp, const Op& op, Mask active);
Step do_cp_async_wait(Warp& warp, const Op& op, Mask active);    // immediate: groups that may be pending; ~0: wait_all
Step do_cp_async_arrive(Warp& warp, const Op& op, Mask active);  // kind 1: .noinc
Step do_st_async(Warp& warp, const Op& op, Mask active);  // [a] = list, then bytes on [b]; kind: Atomic + 1 for red

}  // namespace tma_jit::emulator::isa

// cp.async: copies of 4, 8 or 16 bytes a thread, through the generic proxy, and the groups they are waited for in.
// PTX ISA 9.0, "cp.async". Also asynchronous stores to other blocks: "st.async", "red.async".
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator {

Step do_element_copy(Warp& warp, const Op& op, Mask active);  // [a] = [b], immediate bytes, c of them read
Step do_element_commit(Warp& warp, const Op& op, Mask active);
Step do_element_wait(Warp& warp, const Op& op, Mask active);    // immediate groups may be pending; ~0: wait_all
Step do_element_arrive(Warp& warp, const Op& op, Mask active);  // kind 1: .noinc
Step do_remote_store(Warp& warp, const Op& op, Mask active);  // [a] = list, then bytes on [b]; kind: Atomic + 1 for red

}  // namespace tma_jit::emulator

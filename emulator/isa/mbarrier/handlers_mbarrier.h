// Instructions on mbarriers. Op::a is the address; Op::kind and MbarrierForm hold the modifiers.
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

struct MbarrierForm : FormData {
  bool relaxed = false;
  bool drops = false;     // arrive_drop
  bool arrives = true;    // not expect_tx alone
  bool expects = false;   // with bytes in Op::c
  bool parity = false;    // of a wait: Op::b is a parity, not a state
  bool suspends = false;  // try_wait
};

Step do_mbarrier_init(Warp& warp, const Op& op, Mask active);
Step do_mbarrier_inval(Warp& warp, const Op& op, Mask active);
Step do_mbarrier_arrive(Warp& warp, const Op& op, Mask active);
Step do_mbarrier_complete_tx(Warp& warp, const Op& op, Mask active);
Step do_mbarrier_wait(Warp& warp, const Op& op, Mask active);
Step do_mbarrier_pending(Warp& warp, const Op& op, Mask active);
enum class ProxyFence : u16 { all, shared, global };
Step do_fence_proxy(Warp& warp, const Op& op, Mask active);  // kind: a ProxyFence
Step do_fence_mbarrier_init(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa

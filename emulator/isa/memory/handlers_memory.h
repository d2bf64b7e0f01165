// Loads, stores and atomics of the generic proxy, and addresses. The comment of a handler names the fields of Op that
// it reads.
#pragma once

#include "emulator/machine/atomic.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

// list = [a + offset], [a + offset] = list, in `space`, `vector` elements of `type`; kind is an Ordering.
enum class Ordering : u16 { weak, relaxed, acquire, release, acquire_release };
Step do_load(Warp& warp, const Op& op, Mask active);
Step do_store(Warp& warp, const Op& op, Mask active);
Step do_convert_address(Warp& warp, const Op& op, Mask active);  // cvta; kind 1: .to
Step do_is_space(Warp& warp, const Op& op, Mask active);
// d = [a + offset]; [a + offset] = f(it, b, c); immediate is the Atomic, kind the Ordering
Step do_atomic(Warp& warp, const Op& op, Mask active);
Step do_atomic_wide(Warp& warp, const Op& op, Mask active);  // the same for exch and cas of 16 bytes
// The same for `vector` elements: b is `list`, d is `coordinates` (empty for a reduction).
Step do_atomic_vector(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa

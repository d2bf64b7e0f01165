// What threads and engines do to mbarriers. Each throws Fault for misuse.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier.h"

namespace tma_jit::emulator::async {

// A barrier and where it is.
struct MbarrierRef {
  Mbarrier* barrier = nullptr;
  Block* block = nullptr;
  u32 offset = 0;
};

// The live barrier at a shared address as `from` sees it, or at an offset in a block's own memory.
MbarrierRef mbarrier_at(Machine& machine, Block& from, u32 address);
MbarrierRef mbarrier_in(Machine& machine, Block& owner, u32 offset);

// That the init happened before the user; `engine`: the user is the asynchronous proxy or another block, for which
// init needs a fence besides.
void check_initialised(Machine& machine, const MbarrierRef& at, const check::Clocks& user, bool engine);

// The object's word as mbarrier.inval leaves it in memory, and what an arrival returns of it. PTX leaves both open; an
// H200 was seen to have, from the top, the phase's parity, 20 bits of minus the pending arrivals, 1 unused, 21 of bytes
// landed less bytes announced, 20 of minus the arrivals of a phase, 1 unused; and to return the upper half.
u64 word_of(const Mbarrier& barrier);
u64 token_of(const Mbarrier& barrier);

void expect(const MbarrierRef& at, u64 bytes);
// `clocks` joins what a wait for this phase acquires.
void arrive(Machine& machine, const MbarrierRef& at, u32 count, const check::Clocks& clocks);
void arrive_and_drop(Machine& machine, const MbarrierRef& at, u32 count, const check::Clocks& clocks);
// Bytes of a copy that has been performed; the copy is event `completed` of the barrier's channel.
void complete(Machine& machine, const MbarrierRef& at, u64 bytes, const check::Clocks& clocks);
// Throws where copies into a block that leaves are still expected, whether they are in flight or never come.
void check_landed(const Block& block);
// The next event of the barrier's channel, for the accesses of an operation that completes on it.
check::Stamp next_event(Machine& machine, const MbarrierRef& at, const Op* op);

}  // namespace tma_jit::emulator::async

// Operations on mbarriers. Each throws Fault if the object is misused.
#pragma once

#include "emulator/machine/machine.h"
#include "emulator/machine/mbarrier.h"

namespace tma_jit::emulator {

// An mbarrier and its location.
struct MbarrierRef {
  Mbarrier* barrier = nullptr;
  Block* block = nullptr;
  u32 offset = 0;
};

// Return the live mbarrier at an address in the shared window as `from` uses it, or at an offset in a block's own
// memory.
MbarrierRef mbarrier_at(Machine& machine, Block& from, u32 address);
MbarrierRef mbarrier_in(Machine& machine, Block& owner, u32 offset);

// Checks that the init happened before the use by an actor with the clocks `user`. `engine` means that the user is the
// asynchronous proxy or another block, which requires a fence as well.
void check_initialised(Machine& machine, const MbarrierRef& at, const check::Clocks& user, bool engine);

// Return the 64-bit word that mbarrier.inval leaves in memory, and the state that an arrival returns. PTX leaves both
// opaque. Observed on an H200, from the top: 1 bit phase parity, 20 bits negated pending arrivals, 1 unused, 21 bits
// completed minus expected bytes, 20 bits negated arrivals per phase, 1 unused; an arrival returns the upper half.
u64 word_of(const Mbarrier& barrier);
u64 token_of(const Mbarrier& barrier);

void expect_tx(const MbarrierRef& at, u64 bytes);
// `clocks` are joined to those that a wait for this phase acquires.
void arrive(Machine& machine, const MbarrierRef& at, u32 count, const check::Clocks& clocks);
void arrive_and_drop(Machine& machine, const MbarrierRef& at, u32 count, const check::Clocks& clocks);
// Completes bytes of a copy that has been performed, with the clocks `clocks`.
void complete_tx(Machine& machine, const MbarrierRef& at, u64 bytes, const check::Clocks& clocks);
// Throws a fault if copies into an exiting block are still expected, whether in flight or never issued.
void check_copies_complete(const Block& block);
// Returns the next event of the mbarrier's channel, for the accesses of an operation that completes on it.
check::Stamp next_event(Machine& machine, const MbarrierRef& at, const Op* op);

}  // namespace tma_jit::emulator

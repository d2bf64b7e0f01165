// An mbarrier object. Its state lives beside shared memory, not in it: the layout is opaque, and so a store over a live
// one, or a use without init, is found. PTX ISA 9.0, "mbarrier".
#pragma once

#include "emulator/check/clock.h"
#include "emulator/word.h"

namespace tma_jit::emulator {
struct Op;

struct Mbarrier {
  static constexpr u32 kMostArrivals = (1U << 20) - 1;
  static constexpr s64 kMostBytes = (1 << 20) - 1;

  u32 expected = 0;       // arrivals of a phase
  u32 pending = 0;        // arrivals that this phase still waits for
  u32 phase = 0;          // completed phases
  s64 bytes = 0;          // tx-count: announced and not yet complete
  bool given_up = false;  // someone has seen that the phase is not complete and went on
  check::Stamp initialised;
  const Op* expecting = nullptr;            // the last expect_tx
  check::ActorId channel = check::kNobody;  // of the asynchronous operations that complete on it
  u32 completions = 0;                      // those so far: the channel's time
  check::Clocks gathered, released;         // of this phase; of the phases before
};

}  // namespace tma_jit::emulator

// An mbarrier object. Its state is stored outside shared memory, because its layout is opaque: this detects stores over
// a live object and uses without init. PTX ISA 9.0, "mbarrier".
#pragma once

#include "emulator/check/clock.h"
#include "emulator/word.h"

namespace tma_jit::emulator {
struct Op;

struct Mbarrier {
  static constexpr u32 kMostArrivals = (1U << 20) - 1;
  static constexpr s64 kMostBytes = (1 << 20) - 1;

  u32 expected = 0;                // arrivals per phase
  u32 pending = 0;                 // arrivals missing in this phase
  u32 phase = 0;                   // number of completed phases
  s64 bytes = 0;                   // tx-count: bytes expected and not yet completed
  bool polled_incomplete = false;  // a test of the current phase has returned false
  check::Stamp initialised;
  const Op* expecting = nullptr;             // the last expect_tx
  check::ActorId channel = check::kNoActor;  // of the asynchronous operations that complete on it
  u32 completions = 0;                       // number of those so far; the channel's time
  check::Clocks gathered, released;          // of the current phase; of all earlier phases
};

}  // namespace tma_jit::emulator

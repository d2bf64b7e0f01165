// The barriers of a block and of a cluster that are not objects in memory. PTX ISA 9.0, "bar", "barrier.cluster".
#pragma once

#include "emulator/check/clock.h"
#include "emulator/word.h"

namespace tma_jit::emulator {

struct NamedBarrier {
  u32 arrived = 0;   // threads in the current phase
  u32 expected = 0;  // threads; set by the first arrival of a phase
  u32 phase = 0;
  // The predicates that bar.red has gathered in this phase, and the result of the previous phase.
  bool reduced_all = true, reduced_any = false;
  u32 reduced_count = 0;
  bool result_all = true, result_any = false;
  u32 result_count = 0;
  check::Clocks gathered, released;
};

struct ClusterBarrier {
  u32 arrived = 0;  // threads
  u32 phase = 0;
  check::Clocks gathered, released;
};

}  // namespace tma_jit::emulator

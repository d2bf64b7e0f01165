// How a launch is emulated.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include <tma_jit/emulator.h>

#include "driver/emulator_interface.h"
#include "emulator/word.h"

namespace tma_jit::emulator {

using Policy = EmulatorPolicy;

inline std::string_view policy_name(Policy policy) {
  return driver::kEmulatorPolicies[static_cast<std::size_t>(policy)];
}

// EmulatorSettings as far as a launch goes by them, and what only tests choose.
struct Settings {
  Policy policy = Policy::random;
  u64 seed = 1;
  bool checks = true;
  u32 resident_blocks = 4;                        // at least a whole cluster
  u32 quantum = 64;                               // instructions a warp runs at most before another may
  u64 instruction_limit = kEmulatorInstructions;  // of a launch, a warp's count; 0: none
  u64 polls_before_livelock = 100'000'000;        // instructions with no change of state
  std::filesystem::path trace;                    // where a timeline of every launch is written; empty: nowhere
  std::function<void(std::string_view)> warn;     // each text once a launch
  std::function<void(std::string_view)> print;    // what kernels print; where there is none, to stdout
};

}  // namespace tma_jit::emulator

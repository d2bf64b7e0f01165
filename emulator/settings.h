// Settings of emulated launches.
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
  return tma_jit::driver::kEmulatorPolicies[static_cast<std::size_t>(policy)];
}

// The part of EmulatorSettings that a launch uses, and settings that only tests choose.
struct Settings {
  Policy policy = Policy::random;
  u64 seed = 1;
  bool checks = true;
  bool references = false;  // false: without shadow memory for kernels that are marked as references
  bool races = true;        // whether the launch has shadow memory; each launch sets it
  u32 resident_blocks = 4;  // must hold at least one cluster
  u32 quantum = 64;         // maximum number of instructions that a warp executes before another warp may run
  u64 instruction_limit = kEmulatorInstructions;  // of warps, per launch; 0 means no limit
  u64 polls_before_livelock = 100'000'000;        // instructions without a change of state
  std::filesystem::path trace;                    // the file to which timelines of launches are written; empty: none
  std::function<void(std::string_view)> warn;     // called once per launch for each distinct text
  std::function<void(std::string_view)> print;    // receives the output of printf; if empty, the output goes to stdout
};

}  // namespace tma_jit::emulator

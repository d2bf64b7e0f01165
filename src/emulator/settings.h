// How a launch is emulated.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/word.h"

namespace tma_jit::emulator {

// When asynchronous operations complete. Every policy keeps the orders that PTX guarantees and no other.
enum class Policy : u8 {
  eager,    // at once
  lazy,     // when nothing else can run
  random,   // at any time, in any order, in parts
  split,    // every operation in as many parts as it may be seen in, and something else between two of them
  starved,  // random, but one operation at a time is left until nothing else can run
};

std::string_view name_of(Policy policy);  // "lazy"
std::optional<Policy> policy_named(std::string_view name);
const std::vector<std::string>& policy_names();

struct Settings {
  Policy policy = Policy::random;
  u64 seed = 1;
  bool checks = true;
  u32 resident_blocks = 4;                      // at least a whole cluster
  u32 quantum = 64;                             // instructions a warp runs at most before another may
  u64 instruction_limit = 0;                    // of a launch, a warp's count; 0: none
  u64 polls_before_livelock = 100'000'000;      // instructions with no change of state
  std::filesystem::path trace;                  // where a timeline of every launch is written; empty: nowhere
  std::function<void(std::string_view)> warn;   // each text once a launch
  std::function<void(std::string_view)> print;  // what kernels print; where there is none, to stdout
};

}  // namespace tma_jit::emulator

// What a device's name says about its emulation: "emulator:sm_90a:policy=lazy,seed=7".
#pragma once

#include <string>
#include <string_view>

#include <tma_jit/error.h>

#include "emulator/settings.h"

namespace tma_jit::emulator {

struct Choice {
  std::string target;  // as written; empty: not said
  Settings settings;
};

// Whether a device's name is the emulator's.
bool is_emulator(std::string_view device);

// After "emulator" come, behind a colon each and in any order, a target and settings NAME=VALUE with commas between
// them: policy, seed, checks (0 or 1), and trace, which takes the rest of the name. `environment` holds settings too,
// or is empty; the name's own prevail.
Result<Choice> read_choice(std::string_view device, std::string_view environment);

}  // namespace tma_jit::emulator

// Launches of the command with --check, on a device or the emulator, whose kernels may be compiled already.
#pragma once

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli::launches {

inline constexpr const char* kDevice = "--device";
inline constexpr const char* kEmulator = "emulator:sm_90a";
// A device that a small problem fills, so that it is planned as a large one.
inline constexpr const char* kTwoProcessors = "emulator:sm_90a:processors=2";

inline CommandResult run_own(std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--check", "--json", "--templates", template_folder()});
  return run_command(words);
}

inline void check_passes(const std::vector<std::string>& words) {
  const CommandResult result = run_own(words);
  CAPTURE(words);
  CAPTURE(result.err);
  CAPTURE(result.out);
  CHECK(result.exit == 0);
  CHECK(result.json()["check"]["passed"] == true);
}

}  // namespace tma_jit::cli::launches

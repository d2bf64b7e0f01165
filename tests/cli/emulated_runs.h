// Runs of the command on the emulator with --check, and what they must say.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli::emulated {

inline std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// `problem` has the words of the command, of which the kernel is the first.
inline CommandResult run_on(const std::string& device, const std::string& problem,
                            const std::vector<std::string>& hook = {}) {
  std::vector<std::string> line = {"run", "--check", "--json", "--device", "emulator:" + device};
  for (const std::string& word : words_of(problem)) line.push_back(word);
  line.insert(line.end(), hook.begin(), hook.end());
  return run_command(line);
}

inline void check_passes(const std::string& device, const std::string& problem,
                         const std::vector<std::string>& hook = {}) {
  const CommandResult result = run_on(device, problem, hook);
  CAPTURE(device);
  CAPTURE(problem);
  CAPTURE(result.err);
  CAPTURE(result.out);
  REQUIRE(result.exit == 0);
  CHECK(result.json()["check"]["passed"] == true);
}

inline void check_refused(const std::string& device, const std::string& problem, const char* reason) {
  const CommandResult result = run_on(device, problem);
  CAPTURE(problem);
  CAPTURE(result.err);
  CHECK(result.exit != 0);
  CHECK((result.err + result.out).find(reason) != std::string::npos);
}

inline bool ready() {
  return has_compiler() && kHasEmulator;
}

}  // namespace tma_jit::cli::emulated

// The options of every verb, and the engine that they describe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tma_jit/engine.h>

#include "command_line.h"
#include "console.h"
#include "outcome.h"

namespace tma_jit::cli {

struct Settings {
  Console console;
  std::string device;  // empty: CUDA device 0
  std::string trace;   // file for the emulator's timeline
  std::string arch;
  std::string limits;
  std::string cache_dir;
  std::string remote;
  std::vector<std::string> templates;
  std::string nvrtc;
  bool no_cache = false;
  bool shared = false;
  std::optional<bool> disable_tma;  // unset: from the environment
  bool line_info = false;
  std::string log_level = "warning";
};

// Adds only --json and --quiet, for verbs that need no engine.
void add_console_options(Verb verb, Settings& settings);
void add_settings(Verb verb, Settings& settings);
// Adds only --remote.
void add_remote(Verb verb, Settings& settings);
// Adds --shared, for verbs that fill a cache.
void add_shared(Verb verb, Settings& settings);

[[nodiscard]] Outcome<Options> engine_options(const Settings& settings);
[[nodiscard]] Outcome<Engine> make_engine(const Settings& settings);
// For a verb that launches and measures nothing: if there is no GPU and no device was named, returns the settings with
// the emulator as the device, and prints a note.
Settings launching(Settings settings);

// Returns the server that --remote names; without it, the environment names one.
RemoteOptions remote_options(const Settings& settings);

// The failure of an operation on a server: the command line is wrong where its URL cannot be read, or none is named.
Failure server_failure(Error error);

// Returns the targets of `archs`, which are separated by commas; none if it is empty.
[[nodiscard]] Outcome<std::vector<std::string>> targets_in(const std::string& archs);

// Returns whether --device names the emulator.
bool is_emulated(const Settings& settings);

}  // namespace tma_jit::cli

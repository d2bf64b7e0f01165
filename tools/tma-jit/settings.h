// The options every verb takes, and the engine they describe.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/engine.h>
#include <CLI/CLI.hpp>

#include "console.h"
#include "outcome.h"

namespace tma_jit::cli {

struct Settings {
  Console console;
  std::string device;  // empty: CUDA device 0
  std::string arch;
  std::string limits;
  std::string cache_dir;
  std::vector<std::string> templates;
  std::string nvrtc;
  bool no_cache = false;
  bool line_info = false;
  std::string log_level = "warning";
};

// --json and --quiet alone, for verbs that need no engine.
void add_console_options(CLI::App& verb, Settings& settings);
void add_settings(CLI::App& verb, Settings& settings);

// Whether a verb launches. One that only plans and builds may stand in a known device for --arch where none is named.
enum class Needs : std::uint8_t { facts, device };

Outcome<Options> engine_options(const Settings& settings, Needs needs);
Outcome<Engine> make_engine(const Settings& settings, Needs needs);

// The known device of an exact target, if any: "h100" for "sm_90a".
std::optional<std::string> device_for_arch(const std::string& arch);

}  // namespace tma_jit::cli

// The part of `check` that launches: runs the presets on the emulator with its checks, and compares them with their
// references.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "console.h"
#include "kernel.h"
#include "settings.h"

namespace tma_jit::cli {

// The file that is being checked.
struct CheckedFile {
  std::string path;
  const Kernel* kernel;  // outlives this
  std::map<std::string, std::int64_t> dims;
  std::map<std::string, std::string> hooks;
  int processors = 0;  // of the emulated device; 0: as few as the presets allow
};

// Selects from a kernel's requests those for this file, and adds the hooks.
std::vector<Request> of_file(std::vector<Request> requests, const CheckedFile& file);

struct Emulated {
  Json object = Json::array();  // {types, config, dims, fault} each
  std::size_t faults = 0;
};

// Runs every preset on problems of several sizes. An architecture without an emulated device is noted and skipped.
[[nodiscard]] Outcome<Emulated> check_emulated(const Settings& settings, const CheckedFile& file,
                                               const std::string& arch);

}  // namespace tma_jit::cli

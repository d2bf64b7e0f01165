// The part of `check` that launches: the presets on the emulator, with its checks on, against their references.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "console.h"
#include "kernel.h"
#include "settings.h"

namespace tma_jit::cli {

// What `check` was asked to look at.
struct CheckedFile {
  std::string path;
  const Kernel* kernel;  // outlives this
  std::map<std::string, std::int64_t> dims;
  std::map<std::string, std::string> hooks;
};

// The presets of this file alone, with the hooks.
Outcome<std::vector<Request>> presets_of(Engine& engine, const CheckedFile& file,
                                         const std::map<std::string, std::int64_t>& dims);

struct Emulated {
  Json object = Json::array();  // {types, config, dims, fault} each
  std::size_t faults = 0;
};

// An architecture that no emulated device stands for is noted and not run.
Outcome<Emulated> check_emulated(const Settings& settings, const CheckedFile& file, const std::string& arch);

}  // namespace tma_jit::cli

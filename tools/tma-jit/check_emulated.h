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
  int processors = 0;  // of the emulated device
};

// Of a kernel's requests those of this file, with the hooks.
std::vector<Request> of_file(std::vector<Request> requests, const CheckedFile& file);

struct Emulated {
  Json object = Json::array();  // {types, config, dims, fault} each
  std::size_t faults = 0;
};

// Every preset on problems of several sizes. An architecture that no emulated device stands for is noted and not run.
[[nodiscard]] Outcome<Emulated> check_emulated(const Settings& settings, const CheckedFile& file,
                                               const std::string& arch);

}  // namespace tma_jit::cli

// What a template's presets are tried with: a request that leaves nothing open but dims, and the presets' params.
#pragma once

#include <map>
#include <vector>

#include "plan/planner.h"

namespace tma_jit::plan {

// The text of a hook that has none of its own: its first argument, converted.
std::string placeholder(const templates::Hook& hook);

// The request, with a placeholder for every hook and 1 for every scalar that has neither a default nor a value.
Request completed(const templates::Template& kernel, Request request);

// The product of the choices of all types that tensors have and the request leaves open; the planner chooses the
// others.
std::vector<Request> with_types(const templates::Template& kernel, const Request& request);

struct PresetConfig {
  std::map<std::string, std::int64_t> named;    // by the preset
  std::map<std::string, std::int64_t> params;   // all: those that it does not name have their defaults
  const templates::Expression* when = nullptr;  // of the preset; nullptr: always
};

// The presets in their order, each set of params once, less those whose condition excludes the device whatever the
// problem is; the defaults last.
std::vector<PresetConfig> preset_configs(const templates::Template& kernel, const DeviceInfo& device);

// The dims are ones that some template has; the error suggests one.
Result<void> check_dims(const std::vector<const templates::Template*>& kernels,
                        const std::map<std::string, std::int64_t>& dims);

}  // namespace tma_jit::plan

// The inputs with which a template's presets are tried: requests that leave only dims open, and the presets' params.
#pragma once

#include <map>
#include <vector>

#include "plan/planner.h"

namespace tma_jit::plan {

// Returns a text for a hook without default: its first argument, converted.
std::string placeholder(const templates::Hook& hook);

// Returns the request with a placeholder for every hook, and 1 for every scalar, that has neither a default nor a
// value.
Request completed(const templates::Template& kernel, Request request);

// Returns one request for every combination of the open types that tensors have; of types with more than 128, those
// in which all are as declared first, one differs, or all are the same. The planner chooses the other types.
std::vector<Request> with_types(const templates::Template& kernel, const Request& request);

struct PresetConfig {
  std::map<std::string, std::int64_t> named;    // given by the preset
  std::map<std::string, std::int64_t> params;   // all; those that the preset does not give have their defaults
  const templates::Expression* when = nullptr;  // the preset's condition; nullptr: always
  bool elsewhere = false;                       // it may be for other kernels, or for requests that pin other params
};

// Returns the presets in order, each set of params once, without those whose condition excludes the device for every
// problem; the defaults come last.
std::vector<PresetConfig> preset_configs(const templates::Template& kernel, const DeviceInfo& device);

// Returns whether the dim is the request's to give: it has no value by the template, and its `when` holds for the
// params that the request pins and the defaults of the others.
bool open_dim(const templates::Template& kernel, const templates::Dim& dim, const Request& request,
              const DeviceInfo& device);

// Returns whether the request, which has everything but dims, is invalid whatever its dims, strides and addresses: a
// rule or `when`, which may be nullptr, is violated that depends on none of them.
bool never_valid(const templates::Template& kernel, Request request, const DeviceInfo& device,
                 const templates::Expression* when);

// Fails unless every dim is one of some template; the error suggests one.
[[nodiscard]] Result<void> check_dims(const std::vector<const templates::Template*>& kernels,
                                      const std::map<std::string, std::int64_t>& dims);

}  // namespace tma_jit::plan

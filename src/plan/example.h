// Example problems of a kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tma_jit/example.h>

#include "plan/planner.h"

namespace tma_jit::plan {

// Returns the request completed with dims that satisfy the template, and with texts of hooks and values of scalars that
// have no default. Params are pinned only if the planner's own choice would not accept the problem, and types are named
// only if no file accepts the default ones. What the request gives is unchanged.
Result<Request> example(const Request& request, const DeviceInfo& device, TemplatePointers templates, ExampleSize size);

// The choices of types that examples of a preset are found for: all, or only the first that has one.
enum class ExampleTypes : std::uint8_t { all, first };

// Returns one problem for the defaults and every preset of every file that serves the device, for every choice of types
// for which it is valid and every kind of extents. The problem satisfies the preset's condition and the template's
// rules, and all params are pinned. A preset without such a problem occurs once, so that planning it reports the
// reason, unless it may be for other kernels or for requests that pin other params.
Result<std::vector<Request>> preset_examples(const DeviceInfo& device, TemplatePointers templates,
                                             const std::map<std::string, std::int64_t>& dims,
                                             ExampleTypes types = ExampleTypes::all);

}  // namespace tma_jit::plan

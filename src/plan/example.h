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
[[nodiscard]] Result<Request> example(const Request& request, const DeviceInfo& device, TemplatePointers templates,
                                      ExampleSize size);

// What examples of presets are found for. A search takes milliseconds, and there are thousands.
struct ExampleChoice {
  std::size_t each = 1;    // one of so many presets of a file, its first configuration too
  bool every_type = true;  // false: only the first choice of types that has an example
  bool every_kind = true;  // of extents; false: of a preset one, of the next another
};

// Returns one problem for the defaults and every preset of every file that serves the device, for every choice of types
// for which it is valid and every kind of extents. The problem satisfies the preset's condition and the template's
// rules, and all params are pinned. A preset without such a problem occurs once, so that planning it reports the
// reason, unless it may be for other kernels or for requests that pin other params.
[[nodiscard]] Result<std::vector<Request>> preset_examples(const DeviceInfo& device, TemplatePointers templates,
                                                           const std::map<std::string, std::int64_t>& dims,
                                                           const ExampleChoice& choice = {});

}  // namespace tma_jit::plan

// Example problems of a kernel.
#pragma once

#include <map>
#include <vector>

#include <tma_jit/example.h>

#include "plan/planner.h"

namespace tma_jit::plan {

// The request with dims that satisfy what the template demands, and with a hook's text and a scalar where those have no
// default. Params are pinned where the planner's own choice would not take the problem. What the request says stays.
Result<Request> example(const Request& request, const DeviceInfo& device, TemplatePointers templates, ExampleSize size);

// For the defaults and every preset of every file that serves the device, for every choice of types that makes it valid
// and for every sort of extents: a problem that satisfies the preset's condition and the template's rules, all params
// pinned. A preset for which there is none is there once, so that planning it tells why.
Result<std::vector<Request>> preset_examples(const DeviceInfo& device, TemplatePointers templates,
                                             const std::map<std::string, std::int64_t>& dims);

}  // namespace tma_jit::plan

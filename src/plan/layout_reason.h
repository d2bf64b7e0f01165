// Explains why the layout of a request's tensors leads to another plan than an ideal layout would.
#pragma once

#include <functional>
#include <string>

#include <tma_jit/device_info.h>
#include <tma_jit/error.h>
#include <tma_jit/plan.h>

namespace tma_jit::plan {

using Planner = std::function<Result<Plan>(const Request&)>;

// Returns one line, or "" if tensors at aligned addresses with rows padded to 16 bytes would have the same file and
// configuration, and how much slower the plan is by the estimate. Calls `planner` only if a tensor's layout differs
// from that, and estimates only if the plan does.
std::string layout_reason(const Request& request, const Plan& plan, const DeviceInfo& device, const Planner& planner);

}  // namespace tma_jit::plan

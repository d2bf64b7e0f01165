// Why a request got another plan than its tensors would get if they lay as kernels like them.
#pragma once

#include <functional>
#include <string>

#include <tma_jit/error.h>
#include <tma_jit/plan.h>

namespace tma_jit::plan {

using Planner = std::function<Result<Plan>(const Request&)>;

// One line, or "" where tensors at aligned addresses with rows padded to 16 bytes would have the same file and
// configuration. `planner` is asked again only where a tensor does not lie so.
std::string layout_reason(const Request& request, const Plan& plan, const Planner& planner);

}  // namespace tma_jit::plan

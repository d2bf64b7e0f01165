// Assembles a plan from a valid configuration.
#pragma once

#include "plan/condition.h"

namespace tma_jit::plan {

[[nodiscard]] Result<Plan> assemble(Values& values, const std::vector<Condition>& conditions);

}  // namespace tma_jit::plan

// The kernel's parameters in signature order: tensors, workspaces, scalars, dims, hooks.
#pragma once

#include "plan/condition.h"

namespace tma_jit::plan {

// `values` holds a valid configuration and is unchanged on return; `conditions` are those that it satisfies.
[[nodiscard]] Result<std::vector<Argument>> arguments_of(Values& values, const std::vector<Condition>& conditions);

std::vector<DimValue> dims_of(const Binding& binding);

}  // namespace tma_jit::plan

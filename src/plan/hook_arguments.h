// The kernel's last parameter, `const __grid_constant__ Hooks hooks`: a struct whose members are the request's
// operands.
#pragma once

#include <vector>

#include "plan/values.h"

namespace tma_jit::plan {

// Returns nothing if the template has no hook. Else returns the struct's own argument, followed by one for each
// operand: tensors first, each kind in the order of the request.
[[nodiscard]] Result<std::vector<Argument>> hook_arguments(const Values& values);

}  // namespace tma_jit::plan

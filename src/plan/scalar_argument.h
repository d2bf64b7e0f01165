// A scalar as a kernel parameter.
#pragma once

#include <tma_jit/plan.h>

#include "plan/binding.h"

namespace tma_jit::plan {

// Returns the request's value or the default, in the scalar's type.
[[nodiscard]] Result<Argument> scalar_argument(const Binding& binding, const templates::Scalar& declared);

}  // namespace tma_jit::plan

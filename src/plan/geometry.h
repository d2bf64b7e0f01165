// Grid, block, cluster and shared memory of a configuration, within the limits of CUDA and the device.
#pragma once

#include "plan/values.h"

namespace tma_jit::plan {

// Evaluates the template's `launch`, or its `reference` for a reference request. Errors give values and limits.
[[nodiscard]] Result<Geometry> geometry_of(const Values& values);

}  // namespace tma_jit::plan

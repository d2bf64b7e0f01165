// Grid, block, cluster and shared memory of a configuration, within what CUDA and the device allow.
#pragma once

#include "plan/values.h"

namespace tma_jit::plan {

// Of the template's `launch`, or of its `reference` in a reference request. Messages name values and limits.
[[nodiscard]] Result<Geometry> geometry_of(const Values& values);

}  // namespace tma_jit::plan

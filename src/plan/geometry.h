// Grid, block, cluster and shared memory of a configuration, within the limits of CUDA and the device.
#pragma once

#include "plan/values.h"

namespace tma_jit::plan {

// Evaluates the template's `launch`, or its `reference` for a reference request. Errors give values and limits.
[[nodiscard]] Result<Geometry> geometry_of(const Values& values);

// Its parts: the grid and the clusters, within the request's budget of SMs; the block and its shared memory.
[[nodiscard]] Result<void> set_grid(const Values& values, Geometry& geometry);
[[nodiscard]] Result<void> set_block(const Values& values, Geometry& geometry);

}  // namespace tma_jit::plan

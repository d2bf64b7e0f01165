// Converts a tensor's declaration to the arguments of its tensor map.
#pragma once

#include "plan/values.h"

namespace tma_jit::plan {

// Returns the spec of Template::tensors[index], which must have a box, checked against every rule of the driver. Errors
// name the tensor, e.g. "A: stride 0 is ...".
[[nodiscard]] Result<TensorMapSpec> map_spec(const Values& values, std::size_t index, const Layout& layout);

// Checks only the rules about the tensor's address, extents and strides. The outcome depends on the configuration
// through the map's interleave alone.
[[nodiscard]] Result<void> check_memory_of_map(const Values& values, std::size_t index, const Layout& layout);

}  // namespace tma_jit::plan

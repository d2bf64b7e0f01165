// The valid values of a tensor of indices in one configuration.
#pragma once

#include <optional>

#include <tma_jit/plan.h>

#include "plan/values.h"

namespace tma_jit::plan {

// Returns nullopt if the template declares no range. Bounds that the element type cannot hold become the nearest that
// it can. Fails with invalid_argument if the tensor has elements, the kernel does not check the values itself, and no
// value is valid, or fewer are than must be distinct.
[[nodiscard]] Result<std::optional<ValueRange>> range_of(const Values& values, const templates::Tensor& declared,
                                                         const Layout& layout);

}  // namespace tma_jit::plan

// The estimated time of a configuration, by which the planner compares them.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/values.h"

namespace tma_jit::plan {

// Returns the cycles that the template states for the values' configuration, within the request's budget of SMs;
// nullopt if it states none, or they do not fit into 64 bits.
[[nodiscard]] std::optional<std::int64_t> cycles_of(const Values& values);

}  // namespace tma_jit::plan

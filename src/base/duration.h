// Conversion of the times that callers give.
#pragma once

#include <chrono>

namespace tma_jit {

// Converts seconds to milliseconds that can still be counted in nanoseconds. Larger values, including infinity, give
// the longest such time (292 years); negative values and NaN give 0.
std::chrono::milliseconds milliseconds_of(double seconds);

}  // namespace tma_jit

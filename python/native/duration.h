// Times as Python gives them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace tma_jit::python {

// Converts seconds to milliseconds, rounded up. A time that is too long to count, such as infinity, is the longest.
inline std::chrono::milliseconds milliseconds_of(double seconds) {
  constexpr auto kLongest = std::chrono::milliseconds::max();
  const double milliseconds = std::ceil(seconds * 1e3);
  if (milliseconds >= static_cast<double>(kLongest.count())) return kLongest;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::max(milliseconds, 0.0)));
}

}  // namespace tma_jit::python

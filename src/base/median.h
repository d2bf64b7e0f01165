// The median of measured values.
#pragma once

#include <algorithm>
#include <vector>

namespace tma_jit {

// Returns the median; the mean of the two middle values if their number is even. `values` must not be empty.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace tma_jit

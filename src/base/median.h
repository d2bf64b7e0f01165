// The median of measurements.
#pragma once

#include <algorithm>
#include <vector>

namespace tma_jit {

// The mean of the two in the middle where their number is even. `values` is not empty.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace tma_jit

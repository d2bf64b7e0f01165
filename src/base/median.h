// The middle of measured values.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace tma_jit {

// Returns the median; the mean of the two middle values if their number is even. `values` must not be empty.
[[nodiscard]] inline double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The mean of values that are not far from their median, and its standard error.
struct Mean {
  double value = 0, error = 0;  // error: of few values an estimate, of one 0
};

// Leaves out what differs from the median by more than this part of it, which other work has made longer, unless that
// is more than half: then all count, and the error says how far apart they are. `values` must not be empty.
[[nodiscard]] inline Mean mean_of(std::vector<double> values, double far = 0.2) {
  const double middle = median_of(values);
  std::vector<double> near;
  std::ranges::copy_if(values, std::back_inserter(near),
                       [&](double value) { return std::abs(value - middle) <= far * std::abs(middle); });
  if (2 * near.size() >= values.size()) values = std::move(near);
  const auto count = static_cast<double>(values.size());
  Mean mean;
  for (const double value : values) mean.value += value / count;
  if (values.size() < 2) return mean;
  double squares = 0;
  for (const double value : values) squares += (value - mean.value) * (value - mean.value);
  mean.error = std::sqrt(squares / (count - 1) / count);
  return mean;
}

}  // namespace tma_jit

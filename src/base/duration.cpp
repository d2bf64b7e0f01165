#include "base/duration.h"

#include <cmath>

namespace tma_jit {

std::chrono::milliseconds milliseconds_of(double seconds) {
  constexpr auto kLongest = std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds::max());
  const double milliseconds = seconds * 1e3;
  if (!(milliseconds > 0)) return {};
  if (milliseconds >= static_cast<double>(kLongest.count())) return kLongest;
  return std::chrono::milliseconds(std::llround(std::ceil(milliseconds)));
}

}  // namespace tma_jit

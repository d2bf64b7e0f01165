#include "base/duration.h"

#include <chrono>
#include <limits>

#include <doctest/doctest.h>

namespace tma_jit {

TEST_CASE("seconds of any size are a time that can be waited for") {
  using std::chrono::milliseconds;
  constexpr auto kLongest = std::chrono::floor<milliseconds>(std::chrono::nanoseconds::max());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(milliseconds_of(0.25) == milliseconds(250));
  CHECK(milliseconds_of(120) == milliseconds(120'000));
  CHECK(milliseconds_of(1e-9) == milliseconds(1));  // a wait, if a short one
  for (const double none : {0.0, -1.0, -kInfinity, -1e300, std::numeric_limits<double>::quiet_NaN()})
    CHECK(milliseconds_of(none) == milliseconds(0));
  for (const double ever : {kInfinity, 1e10, 1e300}) CHECK(milliseconds_of(ever) == kLongest);
  CHECK(std::chrono::nanoseconds(0) < milliseconds_of(kInfinity));  // not less than nothing in a finer unit
}

}  // namespace tma_jit

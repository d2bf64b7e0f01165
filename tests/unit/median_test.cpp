#include <doctest/doctest.h>

#include "base/median.h"

namespace tma_jit {
namespace {

TEST_CASE("A mean leaves out the few values that are far from the median") {
  const Mean mean = mean_of({1.00, 1.02, 0.98, 1.00, 5.0});
  CHECK(mean.value == doctest::Approx(1.0));
  CHECK(mean.error < 0.02);
}

TEST_CASE("A mean of values none of which is near the median counts all, and its error says that they differ") {
  const Mean two = mean_of({1.0, 3.0});
  CHECK(two.value == doctest::Approx(2.0));
  CHECK(two.error == doctest::Approx(1.0));
  const Mean halves = mean_of({1.0, 1.0, 1.0, 2.0, 2.0, 2.0});
  CHECK(halves.value == doctest::Approx(1.5));
  CHECK(halves.error > 0.2);
  CHECK(mean_of({3.0}).value == 3.0);
}

}  // namespace
}  // namespace tma_jit

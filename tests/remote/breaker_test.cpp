#include "cache/breaker.h"

#include <doctest/doctest.h>

namespace tma_jit::cache {

using Pass = Breaker::Pass;
using std::chrono::milliseconds;

TEST_CASE("after a fault nobody waits, and one request at a time tries again, ever less often") {
  Breaker breaker;
  Breaker::Clock::time_point now{};
  CHECK(breaker.pass(now) == Pass::wait);
  milliseconds pause = Breaker::kFirstPause;
  for (int fault = 0; fault < 20; ++fault) {
    breaker.failed(now, false);
    CHECK(breaker.is_open());
    CHECK(breaker.pass(now + pause - milliseconds(1)) == Pass::no);
    now += pause;
    CHECK(breaker.pass(now) == Pass::background);
    CHECK(breaker.pass(now) == Pass::no);
    pause = std::min(2 * pause, Breaker::kLongestPause);
  }
  breaker.answered();
  CHECK(!breaker.is_open());
  CHECK(breaker.pass(now) == Pass::wait);
}

TEST_CASE("a lost wait is the only one for the longest pause, and many threads' faults count once") {
  Breaker breaker;
  const Breaker::Clock::time_point now{};
  for (int thread = 0; thread < 8; ++thread) breaker.failed(now, false);
  CHECK(breaker.pass(now + Breaker::kFirstPause) == Pass::background);
  breaker.failed(now + Breaker::kFirstPause, true);
  CHECK(breaker.pass(now + Breaker::kLongestPause) == Pass::no);
  CHECK(breaker.pass(now + Breaker::kFirstPause + Breaker::kLongestPause) == Pass::background);
}

TEST_CASE("answers in a row make earlier faults forgotten") {
  Breaker breaker;
  Breaker::Clock::time_point now{};
  for (int fault = 0; fault < 5; ++fault) {
    breaker.failed(now, false);
    now += Breaker::kLongestPause;
    CHECK(breaker.pass(now) == Pass::background);
    breaker.answered();
  }
  for (int i = 0; i < Breaker::kAnswersForgiving; ++i) breaker.answered();
  breaker.failed(now, false);
  CHECK(breaker.pass(now + Breaker::kFirstPause) == Pass::background);
}

}  // namespace tma_jit::cache

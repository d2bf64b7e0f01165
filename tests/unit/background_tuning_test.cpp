// The thread that tunes in the background, and the time that it may take. What tunes is the test's.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "tuning/background.h"
#include "tuning/pace.h"

namespace tma_jit {
namespace {

using namespace std::chrono_literals;
using tuning::Background;
using tuning::Pace;
using Outcome = Background::Outcome;

// Counts what became of tasks.
struct Settled {
  std::atomic<int> tuned = 0, not_tuned = 0;

  Background::Task task(const std::string& problem) {
    return {problem, {.kernel = problem}, [this](bool was_tuned) { ++(was_tuned ? tuned : not_tuned); }};
  }
  void wait_for(int count) const {
    while (tuned + not_tuned < count) std::this_thread::yield();
  }
};

}  // namespace

TEST_CASE("each problem is tuned once, and all its tasks are settled alike") {
  Settled settled;
  std::atomic<int> tunings = 0;
  Background background({.tune =
                             [&](const Request& request) {
                               ++tunings;
                               return request.kernel == "bad" ? Outcome::failed : Outcome::tuned;
                             },
                         .stop = [] {}});
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (const char* problem : {"a", "bad", "b", "a"}) background.add(settled.task(problem));
    });
  }
  for (std::thread& caller : callers) caller.join();
  settled.wait_for(16);
  CHECK(tunings == 3);
  CHECK(settled.tuned == 12);
  CHECK(settled.not_tuned == 4);
}

TEST_CASE("the end stops the tuning in progress, and settles what waits and what comes later") {
  Settled settled;
  std::promise<void> begun, stopped;
  std::atomic<int> tunings = 0;
  Background background({.tune =
                             [&](const Request&) {
                               ++tunings;
                               begun.set_value();
                               stopped.get_future().wait();
                               return Outcome::failed;
                             },
                         .stop = [&] { stopped.set_value(); }});
  for (const char* problem : {"a", "b", "c"}) background.add(settled.task(problem));
  begun.get_future().wait();
  CHECK(settled.not_tuned == 0);
  background.end();
  CHECK(settled.not_tuned == 3);
  CHECK(tunings == 1);
  background.add(settled.task("d"));
  CHECK(settled.not_tuned == 4);
  background.end();
  CHECK(tunings == 1);
}

TEST_CASE("after giving up nothing is tuned any more") {
  Settled settled;
  std::atomic<int> tunings = 0;
  Background background({.tune =
                             [&](const Request&) {
                               ++tunings;
                               return Outcome::gave_up;
                             },
                         .stop = [] {}});
  for (const char* problem : {"a", "b", "c"}) background.add(settled.task(problem));
  settled.wait_for(3);
  background.add(settled.task("d"));
  settled.wait_for(4);
  CHECK(settled.not_tuned == 4);
  CHECK(tunings == 1);
}

#if !defined(__SANITIZE_THREAD__)  // it allows no new thread in the child of a process with threads
TEST_CASE("the child of a fork has a thread of its own when it needs one, and ends without its parent's") {
  Settled settled;
  Background background({.tune = [](const Request&) { return Outcome::tuned; }, .stop = [] {}});
  background.add(settled.task("a"));
  settled.wait_for(1);
  const pid_t child = ::fork();
  if (child == 0) {
    Settled here;
    background.add(here.task("a"));
    here.wait_for(1);
    background.end();
    ::_exit(here.tuned == 1 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif

TEST_CASE("a pace ends with its budget, and a budget of zero never begins") {
  Pace pace({.budget_s = 0.02});
  int steps = 0;
  for (; pace.begin(); ++steps) {
    std::this_thread::sleep_for(6ms);
    pace.end();
  }
  CHECK(steps >= 1);
  CHECK(steps <= 4);
  CHECK(pace.used_up());
  for (const double budget_s : {0.0, -1.0}) CHECK_FALSE(Pace({.budget_s = budget_s}).begin());
}

TEST_CASE("steps take no larger share of the time than the embedder allows") {
  Pace pace({.budget_s = 10, .share = 0.25});
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    REQUIRE(pace.begin());
    std::this_thread::sleep_for(5ms);
    pace.end();
  }
  CHECK(std::chrono::steady_clock::now() - start >= 3 * 20ms + 5ms);
}

TEST_CASE("the embedder postpones a step, and a stop ends the wait for it and for a pause") {
  std::atomic<int> asked = 0;
  std::atomic<bool> may = false;
  Pace pace({.budget_s = 10, .share = 0.001, .may_measure = [&] {
               ++asked;
               return may.load();
             }});
  std::thread other([&] {
    while (asked < 3) std::this_thread::yield();
    may = true;
  });
  CHECK(pace.begin());
  other.join();
  CHECK(asked >= 3);  // the third question may see the answer change
  std::this_thread::sleep_for(10ms);
  pace.end();  // the pause is ten seconds
  std::thread stopper([&] { pace.stop(); });
  CHECK_FALSE(pace.begin());
  stopper.join();
  CHECK_FALSE(pace.begin());
}

}  // namespace tma_jit

#include "compile/bounded_runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <doctest/doctest.h>

namespace tma_jit::compile {
namespace {

// Counts the runs under way; every third fails. A run lasts until as many have been under way as may be.
class Counting final : public Runner {
 public:
  explicit Counting(int limit) : limit_(limit) {}
  Result<Outcome> run(const Job&) override {
    const int running = ++running_;
    int most = most_;
    while (running > most && !most_.compare_exchange_weak(most, running)) {
    }
    int pauses = 0;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    } while (most_ < limit_ && ++pauses < 10'000);
    --running_;
    if (++runs_ % 3 == 0) return tl::make_unexpected(Error{ErrorCode::nvrtc, "a third", {}});
    return Outcome{};
  }
  const NvrtcFacts& facts() const override { return facts_; }
  std::string place() const override { return "a test"; }

  int most() const { return most_; }
  int runs() const { return runs_; }

 private:
  const int limit_;
  std::atomic<int> running_ = 0, most_ = 0, runs_ = 0;
  NvrtcFacts facts_;
};

}  // namespace

TEST_CASE("no more runs than allowed are under way, and failed ones make room too") {
  for (const int limit : {1, 3}) {
    const auto counting = std::make_shared<Counting>(limit);
    const auto runner = bounded(limit, counting);
    std::vector<std::thread> threads;
    for (int i = 0; i < 12; ++i) {
      threads.emplace_back([&] {
        for (int run = 0; run < 5; ++run) (void)runner->run({});
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(counting->runs() == 60);
    CHECK(counting->most() == limit);
    CHECK(runner->place() == "a test");
    CHECK(&runner->facts() == &counting->facts());
  }
}

}  // namespace tma_jit::compile

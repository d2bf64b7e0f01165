#include "base/memo.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace tma_jit {

TEST_CASE("a value is made once, however many threads ask at once") {
  Memo<int, std::string> memo;
  std::atomic<int> made = 0, waited = 0, ready = 0;
  const auto make = [&]() -> Result<std::string> {
    while (ready < 16) std::this_thread::yield();
    ++made;
    return "value";
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      ++ready;
      MemoPath path{};
      CHECK(memo.get(7, make, &path).value() == "value");
      if (path != MemoPath::made) ++waited;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(made == 1);
  CHECK(waited == 15);
}

TEST_CASE("a failure is told and forgotten") {
  Memo<int, int> memo;
  CHECK(memo.get(1, [] { return Result<int>(failure(ErrorCode::compile, "line {}", 3)); }).error().message == "line 3");
  CHECK(memo.get(1, [] { return Result<int>(5); }).value() == 5);
  MemoPath path{};
  CHECK(memo.get(
                1, [] { return Result<int>(6); }, &path)
            .value() == 5);
  CHECK(path == MemoPath::remembered);
}

TEST_CASE("an exception passes through and leaves nothing in flight") {
  Memo<int, int> memo;
  CHECK_THROWS_AS(memo.get(1, []() -> Result<int> { throw std::runtime_error("no memory"); }), std::runtime_error);
  CHECK(memo.get(1, [] { return Result<int>(5); }).value() == 5);
}

}  // namespace tma_jit

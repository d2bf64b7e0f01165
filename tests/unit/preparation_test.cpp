// Preparing in the background: progress, results, cancelling, and the end of the engine. No launch is ever made: what
// prepares is the test's.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <doctest/doctest.h>

#include "core/failure.h"
#include "engine/preparation_work.h"
#include "support/engines.h"

namespace tma_jit {

using namespace testing;

namespace {

using Preparing = Preparation::Work;

std::vector<Request> requests(int count) {
  std::vector<Request> list;
  for (int i = 0; i < count; ++i) list.push_back({.kernel = std::to_string(i)});
  return list;
}

Result<Launch> refused(const Request& request) {
  return failure(ErrorCode::not_found, "{}", request.kernel);
}

// Holds whoever comes until it is opened.
class Gate {
 public:
  void pass() {
    ++waiting_;
    opened_.wait();
  }
  void open() { open_.set_value(); }
  void wait_for(int count) const {
    while (waiting_ < count) std::this_thread::yield();
  }

 private:
  std::atomic<int> waiting_ = 0;
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

}  // namespace

TEST_CASE("each request has its result, and progress counts to their number") {
  for (const int threads : {1, 4, 100}) {
    std::vector<std::size_t> told;
    Preparing work(requests(20),
                   {.progress =
                        [&](std::size_t done, std::size_t total) {
                          CHECK(total == 20);
                          told.push_back(done);
                        }},
                   refused);
    work.start(threads);
    work.wait();
    CHECK(work.done() == 20);
    REQUIRE(told.size() == 20);
    for (std::size_t i = 0; i < told.size(); ++i) CHECK(told[i] == i + 1);
    for (std::size_t i = 0; i < 20; ++i) CHECK(work.take(i).error().message == std::to_string(i));
    CHECK(work.take(3).error().message == "the result of request 3, 3, was taken before");
    CHECK(work.take(20).error().code == ErrorCode::not_found);
  }
}

TEST_CASE("an empty list is done at once") {
  Preparing work({}, {}, refused);
  work.start(4);
  work.wait();
  CHECK(work.wait_for(std::chrono::milliseconds(0)));
}

TEST_CASE("a limit that is too long to count is none") {
  Gate gate;
  Preparing work(requests(1), {}, [&](const Request& request) {
    gate.pass();
    return refused(request);
  });
  work.start(1);
  gate.wait_for(1);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  CHECK(work.wait_for(std::chrono::milliseconds::max()));
  opener.join();
}

TEST_CASE("what progress throws is dropped") {
  std::size_t told = 0;
  Preparing work(requests(3),
                 {.progress =
                      [&](std::size_t done, std::size_t) {
                        told = done;
                        throw done;
                      }},
                 refused);
  work.start(2);
  work.wait();
  CHECK(told == 3);
}

TEST_CASE("what has begun when it is cancelled is finished, and nothing more is begun") {
  Gate gate;
  std::atomic<int> begun = 0;
  std::size_t told = 0;
  Preparing work(requests(10), {.progress = [&](std::size_t done, std::size_t) { told = done; }},
                 [&](const Request& request) {
                   ++begun;
                   gate.pass();
                   return refused(request);
                 });
  work.start(2);
  gate.wait_for(2);
  CHECK_FALSE(work.wait_for(std::chrono::milliseconds(1)));
  work.cancel();
  CHECK(work.done() == 8);
  CHECK(work.take(9).error().code == ErrorCode::cancelled);
  gate.open();
  work.wait();
  CHECK(begun == 2);
  CHECK(told == 2);
  CHECK(work.take(0).error().code == ErrorCode::not_found);
  CHECK(work.take(1).error().code == ErrorCode::not_found);
}

TEST_CASE("an exception becomes the error of its request") {
  Preparing work(requests(2), {}, [](const Request& request) -> Result<Launch> {
    if (request.kernel == "1") throw std::bad_alloc();
    return refused(request);
  });
  work.start(1);
  work.wait();
  CHECK(work.take(0).error().code == ErrorCode::not_found);
  CHECK(work.take(1).error().message.starts_with("1 was not prepared: "));
}

TEST_CASE("the engine's preparations end together, however many threads wait for them") {
  engine::Preparations all;
  Gate gate;
  const auto prepare = [&](const Request& request) {
    gate.pass();
    return refused(request);
  };
  const auto first = std::make_shared<Preparing>(requests(5), PrepareOptions{}, prepare);
  const auto second = std::make_shared<Preparing>(requests(5), PrepareOptions{}, prepare);
  for (const auto& work : {first, second}) {
    all.add(work);
    work->start(1);
  }
  gate.wait_for(2);
  std::thread ender([&] { all.end(); });
  std::thread other([&] { first->end(); });
  std::thread waiter([&] { second->wait(); });
  while (first->done() < 4 || second->done() < 4) std::this_thread::yield();
  gate.open();
  for (std::thread* thread : {&ender, &other, &waiter}) thread->join();
  CHECK(first->done() == 5);
  CHECK(second->take(4).error().code == ErrorCode::cancelled);
}

TEST_CASE("a preparation outlives its engine, which ends it") {
  std::optional<Preparation> preparation;
  {
    Engine engine = engine_with({.use_cache = false, .log_level = LogLevel::off}, no_driver());
    preparation.emplace(engine.prepare_async(requests(50), {.threads = 2}));
    CHECK(preparation->total() == 50);
    CHECK(preparation->take(0).error().message == "no CUDA driver");
  }
  CHECK(preparation->done() == 50);
  const Error last = preparation->take(49).error();
  CHECK((last.code == ErrorCode::cancelled || last.code == ErrorCode::driver));
}

}  // namespace tma_jit

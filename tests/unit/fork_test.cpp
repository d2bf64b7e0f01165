#include "base/fork.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "base/library.h"
#include "base/memo.h"

namespace tma_jit {
namespace {

struct Held {
  std::mutex mutex;
  std::string text;
};

// What a child of a fork returns from `work`.
template <class Work> int in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a child of a fork has state of its own, even where its parent's was locked") {
  PerProcess<Held> state;
  state.get().text = "parent's";
  const std::lock_guard lock(state.get().mutex);
  CHECK(in_child([&] {
          Held& mine = state.get();
          const std::lock_guard own(mine.mutex);
          return mine.text.empty() && &mine == &state.get() ? 0 : 1;
        }) == 0);
  CHECK(state.get().text == "parent's");
}

TEST_CASE("a fork waits for what no child could free, and a thread that holds it may fork itself") {
  using Clock = std::chrono::steady_clock;
  std::promise<void> inside, forked;
  std::atomic<bool> done = false;
  std::thread loading([&] {
    {
      const NoFork no_fork;
      inside.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      done = true;
    }
    forked.get_future().wait();  // ThreadSanitizer takes a thread that has ended, but is not joined, for a child's leak
  });
  inside.get_future().wait();
  CHECK(in_child([&] { return done ? 0 : 1; }) == 0);
  forked.set_value();
  loading.join();
  const auto start = Clock::now();
  const NoFork once, twice;
  CHECK(in_child([] {
          ::alarm(20);
          const NoFork own;
          return in_child([] { return 0; });
        }) == 0);
  CHECK(Clock::now() - start < std::chrono::seconds(10));  // the patience of a fork that has to wait
}

TEST_CASE("a child finds out whether the loader works") {
  CHECK(loader_works());
  CHECK(in_child([] { return loader_works() ? 0 : 1; }) == 0);
}

TEST_CASE("threads agree on the state of their process") {
  PerProcess<Held> state;
  CHECK(in_child([&] {
          std::vector<Held*> seen(8);
          std::vector<std::thread> threads;
          for (Held*& mine : seen) threads.emplace_back([&] { mine = &state.get(); });
          for (std::thread& thread : threads) thread.join();
          for (const Held* held : seen) {
            if (held != seen[0]) return 1;
          }
          return 0;
        }) == 0);
}

TEST_CASE("what a thread of the parent is making does not make a child wait") {
  Memo<int, int> memo;
  CHECK(memo.get(1, [] { return Result<int>(10); }).value() == 10);
  std::promise<void> inside, go_on;
  std::thread maker([&] {
    (void)memo.get(2, [&] {
      inside.set_value();
      go_on.get_future().wait();
      return Result<int>(20);
    });
  });
  inside.get_future().wait();
  CHECK(in_child([&] {
          ::alarm(20);
          const bool made = memo.get(2, [] { return Result<int>(21); }).value() == 21;
          return made && memo.get(1, [] { return Result<int>(11); }).value() == 11 ? 0 : 1;
        }) == 0);
  go_on.set_value();
  maker.join();
  CHECK(memo.get(2, [] { return Result<int>(0); }).value() == 20);
}

}  // namespace tma_jit

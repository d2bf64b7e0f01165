#include "cache/lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <thread>

#include <doctest/doctest.h>

#include "cache/folder.h"
#include "cache/layers.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Fixture {
  TemporaryFolder folder;
  std::filesystem::path root = folder.path() / "cache";
  Store store = Store::open(root).value();
  const FileSystem& files = FileSystem::system();
  Key key = sample_key(1);

  bool becomes_free(std::chrono::milliseconds limit) {
    Lock lock = store.lock();
    for (const auto end = Clock::now() + limit; Clock::now() < end; std::this_thread::sleep_for(200us)) {
      if (lock.take(files, byte_of(key)) == LockState::held) return true;
    }
    return false;
  }
};

// A child that takes the key's lock, says so, and waits to be killed; with `grandchild` after forking once more.
pid_t start_holder(Fixture& fixture, bool grandchild) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Lock lock = fixture.store.lock();
    const bool held = lock.take(fixture.files, byte_of(fixture.key)) == LockState::held;
    lock.sign(fixture.files, fixture.key);
    if (grandchild && ::fork() == 0) {
      ::sleep(5);
      ::_exit(0);
    }
    const char answer = held ? 'y' : 'n';
    (void)!::write(ready[1], &answer, 1);
    ::pause();
  }
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

LayerSettings settings_for(const std::filesystem::path& root) {
  LayerSettings settings;
  settings.root = root;
  return settings;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture,
                  "a key's lock keeps out other processes and other engines of this one, and tells who has it") {
  const pid_t holder = start_holder(*this, false);
  Lock lock = store.lock();
  CHECK(lock.take(files, byte_of(key)) == LockState::busy);
  CHECK(lock.take(files, byte_of(sample_key(2))) == LockState::held);
  CHECK(lock.holder(files, key).starts_with("process " + std::to_string(holder) + " on "));
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);

  Lock first = store.lock();
  Lock second = Store::open(root).value().lock();
  CHECK(first.take(files, byte_of(key)) == LockState::held);
  CHECK(second.take(files, byte_of(key)) == LockState::busy);
  first.release();
  CHECK(second.take(files, byte_of(key)) == LockState::held);
}

TEST_CASE_FIXTURE(Fixture, "a lock is free at once when its holder is killed, and when a forked child outlives it") {
  for (const bool grandchild : {false, true}) {
    const pid_t holder = start_holder(*this, grandchild);
    ::kill(holder, SIGKILL);
    CHECK(becomes_free(200ms));
    ::waitpid(holder, nullptr, 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "a turn brings what another process compiled while we waited") {
  Layers mine(settings_for(root));
  Layers theirs(settings_for(root));
  Turn held = theirs.turn(key);
  REQUIRE_FALSE(held.found);
  REQUIRE(held.key);
  std::thread compile([&] {
    std::this_thread::sleep_for(50ms);
    CHECK(theirs.put(key, sample_entry(1), held));
  });
  const Turn turn = mine.turn(key);
  compile.join();
  REQUIRE(turn.found);
  CHECK(same(*turn.found, sample_entry(1)));
  CHECK_FALSE(turn.key);
  CHECK(mine.tally().waits == 1);
}

TEST_CASE_FIXTURE(Fixture, "a holder that takes too long, or stops, is not waited for beyond the limit") {
  LayerSettings settings = settings_for(root);
  settings.wait = 100ms;
  Layers layers(settings);
  const pid_t holder = start_holder(*this, false);
  ::kill(holder, SIGSTOP);
  const auto start = Clock::now();
  const Turn turn = layers.turn(key);
  const auto waited = Clock::now() - start;
  CHECK_FALSE(turn.found);
  CHECK_FALSE(turn.key);
  CHECK(layers.tally().wait_timeouts == 1);
  CHECK(waited >= 100ms);
  CHECK(waited < 2s);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
}

}  // namespace tma_jit::cache

#include "cache/lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
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
};

// A child that takes the key's lock, says so, and waits to be killed; with `grandchild` it forks once more, and the
// grandchild says so, once it runs, and lives as long as this object.
class Holder {
 public:
  Holder(Fixture& fixture, bool grandchild) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(lives_) == 0);
    process = ::fork();
    if (process == 0) {
      ::close(lives_[1]);
      Lock lock = fixture.store.lock();
      const bool held = lock.take(fixture.files, byte_of(fixture.key)) == LockState::held;
      lock.sign(fixture.files, fixture.key);
      const pid_t other = grandchild ? ::fork() : 0;
      char answer = held ? 'y' : 'n';
      if (other == 0) (void)!::write(ready[1], &answer, 1);
      if (grandchild && other == 0) {
        (void)!::read(lives_[0], &answer, 1);
        ::_exit(0);
      }
      ::pause();
    }
    char answer = 0;
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    CHECK(answer == 'y');
    ::close(ready[0]);
    ::close(ready[1]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    ::close(lives_[0]);
    ::close(lives_[1]);
  }
  void kill() const {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }

  pid_t process = -1;

 private:
  int lives_[2] = {-1, -1};
};

LayerSettings settings_for(const std::filesystem::path& root) {
  LayerSettings settings;
  settings.root = root;
  return settings;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture,
                  "a key's lock keeps out other processes and other engines of this one, and tells who has it") {
  const Holder holder(*this, false);
  Lock lock = store.lock();
  CHECK(lock.take(files, byte_of(key)) == LockState::busy);
  CHECK(lock.take(files, byte_of(sample_key(2))) == LockState::held);
  CHECK(lock.holder(files, key).starts_with("process " + std::to_string(holder.process) + " on "));
  holder.kill();

  Lock first = store.lock();
  Lock second = Store::open(root).value().lock();
  CHECK(first.take(files, byte_of(key)) == LockState::held);
  CHECK(second.take(files, byte_of(key)) == LockState::busy);
  first.release();
  CHECK(second.take(files, byte_of(key)) == LockState::held);
}

TEST_CASE_FIXTURE(Fixture, "a lock is free at once when its holder is killed, and when a forked child outlives it") {
  for (const bool grandchild : {false, true}) {
    const Holder holder(*this, grandchild);
    holder.kill();
    CHECK(store.lock().take(files, byte_of(key)) == LockState::held);
  }
}

TEST_CASE_FIXTURE(Fixture, "a turn brings what another process compiled while we waited") {
  Layers mine(settings_for(root));
  Layers theirs(settings_for(root));
  Turn held = theirs.turn(key);
  REQUIRE_FALSE(held.found);
  REQUIRE(held.key);
  std::atomic<bool> ended = false;
  std::thread compile([&] {
    while (mine.tally().waits == 0 && !ended) std::this_thread::sleep_for(1ms);
    CHECK(theirs.put(key, sample_entry(1), held));
  });
  const Turn turn = mine.turn(key);
  ended = true;
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
  const Holder holder(*this, false);
  ::kill(holder.process, SIGSTOP);
  const auto start = Clock::now();
  const Turn turn = layers.turn(key);
  const auto waited = Clock::now() - start;
  CHECK_FALSE(turn.found);
  CHECK_FALSE(turn.key);
  CHECK(layers.tally().wait_timeouts == 1);
  CHECK(waited >= 100ms);
  CHECK(waited < 60s);  // half of the usual limit
  holder.kill();
}

}  // namespace tma_jit::cache

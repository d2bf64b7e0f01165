// The store under several threads, several processes, and an unprivileged user whose folder cannot be written.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <tma_jit/cache.h>

#include "cache/folder.h"
#include "cache/store.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

constexpr unsigned kKeys = 16;
constexpr uid_t kNobody = 65534;

struct Tally {
  std::atomic<unsigned> hits = 0, wrong = 0, unsound = 0, failed = 0;
};

// Gets, and puts what is missing; every key is put twice as often as it need be, to race with readers.
void work(const Store& store, unsigned seed, unsigned rounds, Tally& tally) {
  for (unsigned i = 0; i < rounds; ++i) {
    const unsigned number = (seed + i * 7) % kKeys;
    const Lookup found = store.get(sample_key(number));
    if (found.entry) {
      ++tally.hits;
      if (!same(*found.entry, sample_entry(number, 4000))) ++tally.wrong;
    } else if (found.reason != MissReason::absent) {
      ++tally.unsound;
    }
    if (!found.entry || i % 8 == 0) {
      if (!store.put(sample_key(number), sample_entry(number, 4000))) ++tally.failed;
    }
  }
}

// Runs `body` in a child; its return value is the child's exit status, -1 when a signal ended it.
template <class Body> int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// 77 when this user cannot become nobody, and modes therefore cannot be tested.
template <class Body> int as_nobody(Body body) {
  return in_child([&] {
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) return 77;
    return body();
  });
}

}  // namespace

TEST_CASE("threads that get and put the same keys see whole entries only") {
  const TemporaryFolder folder;
  const Store store = Store::open(folder.path() / "cache").value();
  Tally tally;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i) threads.emplace_back([&, i] { work(store, i, 100, tally); });
  for (std::thread& thread : threads) thread.join();
  CHECK(tally.hits > 8 * 100 / 2);
  CHECK(tally.wrong == 0);
  CHECK(tally.unsound == 0);
  CHECK(tally.failed == 0);
  CHECK(cache_stat(store.root()).value().entries == kKeys);
  CHECK(cache_stat(store.root()).value().temporary_files == 0);
}

TEST_CASE("writers that are killed leave whole entries and temporary files that can be cleared") {
  const TemporaryFolder folder;
  const Store store = Store::open(folder.path() / "cache").value();
  Tally tally;
  for (unsigned round = 0; round < 25; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      work(store, round, 1'000'000, tally);
      ::_exit(0);
    }
    ::usleep(1000 + 300 * round);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  work(store, 0, 200, tally);
  CHECK(tally.unsound == 0);
  CHECK(tally.wrong == 0);
  const auto entries = cache_verify(store.root()).value();
  for (const CacheEntryInfo& entry : entries) CHECK(entry.fault == "");
  REQUIRE(cache_clear(store.root()));
  CHECK(cache_stat(store.root()).value().temporary_files == 0);
}

TEST_CASE("a folder that cannot be written is read, and every put says why") {
  const TemporaryFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  const auto root = folder.path() / "cache";
  const Store store = Store::open(root).value();
  REQUIRE(store.put(sample_key(1), sample_entry(1)));
  // Laid out as in an image: everything belongs to root and can be read by all.
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder.path())) {
    ::chmod(item.path().c_str(), item.is_directory() ? 0555 : 0444);
  }
  const int status = as_nobody([&] {
    const auto opened = Store::open(root);
    if (!opened || opened->writable()) return 1;
    if (!opened->get(sample_key(1)).entry) return 2;
    if (opened->get(sample_key(2)).reason != MissReason::absent) return 3;
    const auto put = opened->put(sample_key(2), sample_entry(2));
    if (put || put.error().message.find("can be read but not written") == std::string::npos) return 4;
    return Store::open(folder.path() / "other").has_value() ? 5 : 0;
  });
  CHECK((status == 0 || status == 77));
}

TEST_CASE("an entry that belongs to another user is not read") {
  if (::geteuid() != 0) return;
  const TemporaryFolder folder;
  const Store store = Store::open(folder.path() / "cache").value();
  REQUIRE(store.put(sample_key(1), sample_entry(1)));
  REQUIRE(::chown(entry_path(store.root(), sample_key(1)).c_str(), kNobody, kNobody) == 0);
  CHECK(store.get(sample_key(1)).reason == MissReason::untrusted);
  REQUIRE(::chown(store.root().c_str(), kNobody, kNobody) == 0);
  CHECK(Store::open(store.root()).error().message.find("owned by user 65534") != std::string::npos);
}

}  // namespace tma_jit::cache

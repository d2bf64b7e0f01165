// What eviction keeps and removes, above all where clocks are wrong or were.
#include "cache/sweep.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <ctime>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <tma_jit/cache.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "cache/folder.h"
#include "cache/store.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::time_t kHour = 3'600, kDay = 86'400, kYear = 365 * kDay;

// Keys of one shard, so that what is swept is all there is.
std::vector<Key> keys_of_one_shard(unsigned count) {
  std::vector<Key> keys;
  for (unsigned number = 0; keys.size() < count; ++number) {
    if (Key key = sample_key(number); key.bytes[0] == 7) keys.push_back(key);
  }
  return keys;
}

struct Fixture {
  TemporaryFolder folder;
  fs::path root = folder.path() / "cache";
  Store store = Store::open(root, {.sweep_every = 0}).value();
  Descriptor opened{::open(format_folder(root).c_str(), O_RDONLY | O_DIRECTORY)};
  std::time_t now = std::time(nullptr);
  std::vector<Key> keys = keys_of_one_shard(8);

  void put(unsigned number, std::time_t used) {
    REQUIRE(store.put(keys[number], sample_entry(number)));
    REQUIRE(FileSystem::system().set_time(AT_FDCWD, entry_path(root, keys[number]).c_str(), used) == 0);
  }
  std::time_t used(unsigned number) const {
    struct stat status {};
    REQUIRE(::lstat(entry_path(root, keys[number]).c_str(), &status) == 0);
    return status.st_mtime;
  }
  // The numbers that are still there.
  std::vector<unsigned> left() const {
    std::vector<unsigned> numbers;
    for (unsigned number = 0; number < keys.size(); ++number) {
      if (fs::exists(entry_path(root, keys[number]))) numbers.push_back(number);
    }
    return numbers;
  }
  Swept sweep(std::uint64_t entries, const Limits& limits = {}) {
    return sweep_shard({FileSystem::system(), opened.get(), now}, 7, limits, {~0ULL, entries});
  }
  using Numbers = std::vector<unsigned>;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "entries from the future go before what was just used, and after what was used long ago") {
  put(0, now - 3 * kDay);
  put(1, now + 2 * kDay);
  put(2, now + 12 * kYear);
  put(3, now - 120);  // just used
  put(4, now - 290);
  sweep(4);
  CHECK(left() == Numbers{1, 2, 3, 4});
  CHECK(used(1) < now - 590);  // so that they age from here on
  CHECK(used(2) < now - 590);
  sweep(2);
  CHECK(left() == Numbers{3, 4});
  sweep(0);
  CHECK(left() == Numbers{3, 4});  // used within ten minutes
}

TEST_CASE_FIXTURE(Fixture, "an entry from the future that is not used again is not kept for ever") {
  put(0, now + kYear);
  put(1, now - 60);
  sweep(8);
  now += 2 * kHour;  // time goes by; 1 is used
  REQUIRE(FileSystem::system().set_time(AT_FDCWD, entry_path(root, keys[1]).c_str(), now) == 0);
  sweep(1);
  CHECK(left() == Numbers{1});
}

TEST_CASE_FIXTURE(Fixture, "a clock that went back: what was used since is kept, whatever its number says") {
  for (unsigned number = 0; number < 4; ++number) put(number, now - number * kHour);
  now -= 2 * kYear;
  REQUIRE(FileSystem::system().set_time(AT_FDCWD, entry_path(root, keys[3]).c_str(), now - 10) == 0);  // by a hit
  sweep(1);
  CHECK(left() == Numbers{3});
}

TEST_CASE_FIXTURE(Fixture, "an entry used once in four minutes is never the oldest of many") {
  for (unsigned number = 0; number < 8; ++number) put(number, now - kHour - number);
  CHECK(store.get(keys[7]).entry);
  sweep(1);
  CHECK(left() == Numbers{7});
}

TEST_CASE_FIXTURE(Fixture, "trim is exact whatever the entries' times say") {
  const std::time_t times[] = {now, now + kYear, now + 12 * kYear, 0, now - kDay, now + 4 * kDay, now + 30, now - 30};
  for (unsigned number = 0; number < 8; ++number) put(number, times[number]);
  CHECK(cache_trim(root, std::uint64_t{1} << 30, 6).value().removed == 2);
  CHECK(left() == Numbers{0, 1, 2, 5, 6, 7});
  CHECK(cache_trim(root, std::uint64_t{1} << 30, 3).value().removed == 3);
  CHECK(left() == Numbers{0, 6, 7});
  const auto bytes = fs::file_size(entry_path(root, keys[6]));
  CHECK(cache_trim(root, bytes, 3).value().removed == 2);
  CHECK(cache_trim(root, 0).value().removed == 1);
  CHECK(left().empty());
}

TEST_CASE_FIXTURE(Fixture, "what dead writers left goes though its time is to come; empty folders go with it") {
  const fs::path shard = root / "v1" / "07";
  REQUIRE(write_file(shard / ".tmp-00000000-1-0", "half an entry"));
  fs::create_directory(shard / ".tmp-00000000-1-1");
  fs::create_directory(entry_path(root, keys[0]));
  for (const char* name : {".tmp-00000000-1-0", ".tmp-00000000-1-1"})
    REQUIRE(FileSystem::system().set_time(AT_FDCWD, (shard / name).c_str(), now + kYear) == 0);
  CHECK(sweep(8).temporaries == 0);
  now += 2 * kDay;
  CHECK(sweep(0).temporaries == 2);
  CHECK(fs::is_empty(shard));
}

TEST_CASE_FIXTURE(Fixture, "what dead writers left outside the shards goes too, and other programs' files stay") {
  const std::vector<fs::path> folders{root / "v1", root / "v1" / "compilers"};
  for (const fs::path& folder : folders) {
    for (const char* name :
         {".tmp-00000000-1-0", ".tmp-build", ".tmp-0000000-1-0", ".tmp-00000000-1-", ".tmp-00000000-x-0"}) {
      REQUIRE(write_file(folder / name, "half a file"));
      REQUIRE(FileSystem::system().set_time(AT_FDCWD, (folder / name).c_str(), now - 2 * kDay) == 0);
    }
  }
  CHECK(cache_stat(root).value().temporary_files == 2);
  const auto left = [&] {
    std::size_t files = 0;
    for (const fs::path& folder : folders) files += fs::exists(folder / ".tmp-00000000-1-0");
    return files;
  };
  SUBCASE("by a trim") {
    CHECK(cache_trim(root, std::uint64_t{1} << 30).value().temporary_files == 2);
    CHECK(left() == 0);
  }
  SUBCASE("by a round of sweeps") {
    Sweeper sweeper;
    std::uint64_t removed = 0;
    for (unsigned i = 0; i < kShards / 8; ++i)
      removed += sweeper.sweep({FileSystem::system(), opened.get(), now}, {}).temporaries;
    CHECK(removed == 2);
    CHECK(left() == 0);
  }
  for (const fs::path& folder : folders) CHECK(fs::exists(folder / ".tmp-build"));
}

TEST_CASE_FIXTURE(Fixture, "a trim that cannot remove what it must is an error that says what is left") {
  put(0, now - kDay);
  const fs::path full = entry_path(root, keys[1]);
  fs::create_directories(full / "inner");
  const auto trimmed = cache_trim(root, 0);
  REQUIRE_FALSE(trimmed);
  CHECK(trimmed.error().message.find("removed 1, and 1 entries of ") != std::string::npos);
  CHECK(trimmed.error().message.find("Directory not empty") != std::string::npos);
  CHECK(cache_trim(root, std::uint64_t{1} << 30));
}

}  // namespace tma_jit::cache

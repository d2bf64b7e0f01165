#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <tma_jit/cache.h>

#include "base/digest.h"
#include "base/file.h"
#include "cache/folder.h"
#include "cache/store.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  TemporaryFolder folder;
  fs::path root = folder.path() / "cache";
  cache::Store store = cache::Store::open(root).value();

  Fixture() {
    for (unsigned i = 0; i < 3; ++i) REQUIRE(store.put(cache::sample_key(i), cache::sample_entry(i)));
  }
  fs::path path(unsigned number) const { return cache::entry_path(root, cache::sample_key(number)); }
};

// Sets variables for the length of a test, and restores them.
class SetVariables {
 public:
  explicit SetVariables(const std::map<std::string, std::optional<std::string>>& values) {
    for (const auto& [name, value] : values) {
      const char* before = std::getenv(name.c_str());
      before_[name] = before != nullptr ? std::optional<std::string>(before) : std::nullopt;
      set(name, value);
    }
  }
  SetVariables(const SetVariables&) = delete;
  SetVariables& operator=(const SetVariables&) = delete;
  ~SetVariables() {
    for (const auto& [name, value] : before_) set(name, value);
  }

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "stat counts entries, faults that show and temporary files, and nothing foreign") {
  REQUIRE(write_file(path(0), ""));
  REQUIRE(write_file(root / "v1" / "00" / ".tmp-00000000-1-0", "half an entry"));
  REQUIRE(write_file(root / "v1" / "00" / "notes.txt", "somebody's notes"));
  const CacheSummary summary = cache_stat(root).value();
  CHECK(summary.root == root);
  CHECK(summary.entries == 3);
  CHECK(summary.faulty == 1);
  CHECK(summary.temporary_files == 1);
  CHECK(summary.bytes == fs::file_size(path(1)) + fs::file_size(path(2)) + 13);
}

TEST_CASE_FIXTURE(Fixture, "verify names kernels and what is wrong, and removes nothing") {
  fs::resize_file(path(1), fs::file_size(path(1)) - 1);
  const auto entries = cache_verify(root).value();
  REQUIRE(entries.size() == 3);
  for (const CacheEntryInfo& entry : entries) {
    const bool damaged = entry.key == to_hex(cache::sample_key(1).bytes);
    CHECK(entry.fault.starts_with("corrupt: ") == damaged);
    CHECK(entry.arch == (damaged ? "" : "sm_90a"));
    CHECK(entry.kernel.starts_with("sample") == !damaged);
  }
  CHECK(fs::exists(path(1)));
}

TEST_CASE_FIXTURE(Fixture, "clear removes entries and temporary files, and nothing else") {
  REQUIRE(store.record_compiler("nvrtc 13.0"));
  REQUIRE(write_file(root / "v1" / "00" / ".tmp-00000000-1-0", "half an entry"));
  REQUIRE(write_file(root / "v1" / "00" / "notes.txt", "somebody's notes"));
  CHECK(cache_clear(root).value() == 4);
  CHECK(cache_stat(root).value().entries == 0);
  CHECK(fs::exists(root / "v1" / "00" / "notes.txt"));
  CHECK(store.compilers().size() == 1);
  CHECK(cache_clear(root).value() == 0);
  CHECK(store.put(cache::sample_key(1), cache::sample_entry(1)).has_value());
}

TEST_CASE_FIXTURE(Fixture, "no tool follows a link that lies in the place of a folder of the cache") {
  const fs::path other = folder.path() / "other";
  const cache::Store strange = cache::Store::open(other).value();
  REQUIRE(strange.put(cache::sample_key(7), cache::sample_entry(7)));
  REQUIRE(strange.record_compiler("nvrtc 13.0 abc"));
  const fs::path entry = cache::entry_path(other, cache::sample_key(7)), shard = entry.parent_path();
  const fs::path here = root / "v1" / shard.filename();
  fs::remove_all(here);
  fs::create_directory_symlink(shard, here);
  fs::remove_all(cache::compilers_folder(root));
  fs::create_directory_symlink(cache::compilers_folder(other), cache::compilers_folder(root));
  CHECK(store.compilers().empty());
  CHECK(cache_stat(root)->entries == 3);
  CHECK(cache_verify(root)->size() == 3);
  CHECK(cache_pack(root, folder.path() / "pack")->entries == 3);
  CHECK(cache_trim(root, 0, 0)->removed == 3);
  CHECK(cache_clear(root) == 0);
  CHECK(fs::exists(entry));
  CHECK(strange.compilers().size() == 1);
}

TEST_CASE_FIXTURE(Fixture, "clear removes a folder in an entry's place with what is in it, and follows no link there") {
  const fs::path outside = folder.path() / "outside";
  REQUIRE(write_file(outside, "kept"));
  fs::remove(path(1));
  fs::create_directories(path(1) / "a" / "b");
  fs::create_symlink(outside, path(1) / "a" / "link");
  CHECK(cache_clear(root) == 3);
  CHECK(!fs::exists(path(1)));
  CHECK(fs::exists(outside));
}

TEST_CASE_FIXTURE(Fixture, "clear forgets crashes, and leaves what others put beside them or where a link leads") {
  const std::string key(64, 'a');
  fs::create_directory(root / "crashes");
  const std::string ours[] = {key + ".crash", key + ".crash.4711", "gemm-0123456789ab.cu"};
  const std::string others[] = {"notes.crash", "gemm.cu", "gemm-0123456789xy.cu", std::string(64, 'Z') + ".crash"};
  for (const std::string& name : ours) REQUIRE(write_file(root / "crashes" / name, "words"));
  for (const std::string& name : others) REQUIRE(write_file(root / "crashes" / name, "words"));
  CHECK(cache_clear(root).value() == 6);
  for (const std::string& name : ours) CHECK(!fs::exists(root / "crashes" / name));
  for (const std::string& name : others) CHECK(fs::exists(root / "crashes" / name));
  const fs::path elsewhere = folder.path() / "elsewhere";
  fs::rename(root / "crashes", elsewhere);
  REQUIRE(write_file(elsewhere / ours[0], "words"));
  fs::create_directory_symlink(elsewhere, root / "crashes");
  CHECK(cache_clear(root).value() == 0);
  CHECK(fs::exists(elsewhere / ours[0]));
}

TEST_CASE_FIXTURE(Fixture, "trim removes the entries used longest ago, and what dead writers left") {
  const timespec then{std::time(nullptr) - 7200, 0};
  const timespec times[] = {then, then};
  REQUIRE(::utimensat(AT_FDCWD, path(1).c_str(), times, 0) == 0);
  const fs::path stale = root / "v1" / "00" / ".tmp-00000000-1-0";
  REQUIRE(write_file(stale, "half an entry"));
  const timespec days[] = {{then.tv_sec - 200'000, 0}, {then.tv_sec - 200'000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, stale.c_str(), days, 0) == 0);
  REQUIRE(write_file(root / "v1" / "00" / "notes.txt", "somebody's notes"));
  const CacheTrimmed by_count = cache_trim(root, 1 << 20, 2).value();
  CHECK(by_count.entries == 3);
  CHECK(by_count.removed == 1);
  CHECK(by_count.temporary_files == 1);
  CHECK_FALSE(fs::exists(path(1)));
  CHECK(fs::exists(path(0)));
  const CacheTrimmed by_size = cache_trim(root, fs::file_size(path(0))).value();
  CHECK(by_size.removed == 1);
  CHECK(cache_stat(root).value().entries == 1);
  CHECK(fs::exists(root / "v1" / "00" / "notes.txt"));
  CHECK(cache_trim(folder.path() / "none", 0).value().removed == 0);
}

TEST_CASE_FIXTURE(Fixture, "single entries are found by the beginning of their key") {
  const std::string key = to_hex(cache::sample_key(1).bytes);
  const CacheEntry entry = cache_read(root, key.substr(0, 12)).value();
  CHECK(entry.info.key == key);
  CHECK(entry.info.kernel == "sample1");
  CHECK(entry.cubin == cache::sample_entry(1).cubin);
  CHECK(cache_read(root, "").error().code == ErrorCode::invalid_argument);
  CHECK(cache_read(root, "no key").error().code == ErrorCode::not_found);
}

TEST_CASE("root takes no folder of another user's for its own") {
  if (::geteuid() != 0) return;
  const TemporaryFolder home;
  REQUIRE(::chown(home.path().c_str(), 65534, 65534) == 0);
  const SetVariables of_a_user(
      {{"TMA_JIT_CACHE_DIR", std::nullopt}, {"XDG_CACHE_HOME", std::nullopt}, {"HOME", home.path().string()}});
  CHECK_FALSE(default_cache_dir().string().starts_with(home.path().string()));
  CHECK(cache::Store::open(home.path() / ".cache" / "tma-jit").error().message.find("belongs to user 65534") !=
        std::string::npos);
  CHECK(fs::is_empty(home.path()));
}

TEST_CASE("a folder that is not there is an empty cache, one that is not trusted an error") {
  const TemporaryFolder folder;
  CHECK(cache_stat(folder.path() / "none").value().entries == 0);
  CHECK(cache_verify(folder.path() / "none").value().empty());
  CHECK(cache_clear(folder.path() / "none").value() == 0);
  CHECK_FALSE(fs::exists(folder.path() / "none"));
  ::chmod(folder.path().c_str(), 0777);
  CHECK(cache_clear(folder.path()).error().code == ErrorCode::io);
}

TEST_CASE("the default folder follows the environment in the documented order") {
  const SetVariables all({{"TMA_JIT_CACHE_DIR", "/named"}, {"XDG_CACHE_HOME", "/xdg"}, {"HOME", "/home/user"}});
  CHECK(default_cache_dir() == "/named");
  {
    const SetVariables without({{"TMA_JIT_CACHE_DIR", std::nullopt}});
    CHECK(default_cache_dir() == "/xdg/tma-jit");
  }
  {
    const SetVariables relative({{"TMA_JIT_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "relative"}});
    CHECK(default_cache_dir() == "/home/user/.cache/tma-jit");
  }
  const SetVariables homeless(
      {{"TMA_JIT_CACHE_DIR", std::nullopt}, {"XDG_CACHE_HOME", std::nullopt}, {"HOME", std::nullopt}});
  const fs::path folder = default_cache_dir();
  CHECK((folder.empty() || folder.is_absolute()));
}

}  // namespace tma_jit

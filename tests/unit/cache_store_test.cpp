#include "cache/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>
#include <ctime>
#include <string>

#include <doctest/doctest.h>
#include <tma_jit/cache.h>

#include "base/file.h"
#include "cache/folder.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  TemporaryFolder folder;
  Store store = Store::open(folder.path() / "cache").value();
  Key key = sample_key(3);
  Entry entry = sample_entry(3);
  fs::path path = entry_path(store.root(), key);

  Lookup get_after_put() {
    REQUIRE(store.put(key, entry));
    return store.get(key);
  }
  bool heals() {
    const Lookup found = get_after_put();
    return found.entry && same(*found.entry, entry);
  }
};

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

bool has_temporary_files(const fs::path& folder) {
  for (const std::string& name : names_in(FileSystem::system(), AT_FDCWD, folder.c_str())) {
    if (is_temporary(name)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "what is put is found, by this store and by the next") {
  CHECK(store.get(key).reason == MissReason::absent);
  CHECK(heals());
  const Lookup found = Store::open(store.root()).value().get(key);
  REQUIRE(found.entry);
  CHECK(same(*found.entry, entry));
  CHECK(found.reason == MissReason::none);
  CHECK(store.get(sample_key(4)).reason == MissReason::absent);
  CHECK_FALSE(has_temporary_files(path.parent_path()));
}

TEST_CASE("a new folder has every shard, a backup tag and no rights for others, whatever the umask") {
  const TemporaryFolder folder;
  const mode_t previous = ::umask(0777);
  const auto store = Store::open(folder.path() / "a" / "b");
  REQUIRE(store);
  const bool put = store->put(sample_key(1), sample_entry(1)).has_value();
  ::umask(previous);
  CHECK(put);
  CHECK(store->writable());
  CHECK(mode_of(folder.path() / "a") == 0700);
  CHECK(mode_of(store->root() / "v1" / "00") == 0700);
  CHECK(mode_of(store->root() / "v1" / "ff") == 0700);
  CHECK(mode_of(entry_path(store->root(), sample_key(1))) == 0600);
  CHECK(read_file(store->root() / "CACHEDIR.TAG").value().starts_with("Signature: 8a477f597d28d172789f06886806bc55"));
}

TEST_CASE("a shared folder is for everyone to read, whatever the umask, and stays so; others stay private") {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "a" / "b";
  const mode_t previous = ::umask(0777);
  const auto store = Store::open(root, {.shared = true});
  REQUIRE(store);
  const bool put = store->put(sample_key(1), sample_entry(1)) && store->record_compiler("nvrtc 13.0");
  store->add_to_index(sample_key(1), Marks::of("gemm"));
  const bool later = Store::open(root).value().put(sample_key(2), sample_entry(2)).has_value();
  ::umask(previous);
  CHECK(put);
  CHECK(later);
  for (const char* name : {"", "v1", "v1/00", "v1/ff", "v1/compilers"}) CHECK(mode_of(root / name) == 0755);
  CHECK(mode_of(folder.path() / "a") == 0755);
  for (const unsigned number : {1U, 2U}) CHECK(mode_of(entry_path(root, sample_key(number))) == 0644);
  CHECK(mode_of(root / "v1" / "index") == 0644);
  CHECK(mode_of(root / "CACHEDIR.TAG") == 0644);
  for (const std::string& name : names_in(FileSystem::system(), AT_FDCWD, compilers_folder(root).c_str()))
    CHECK(mode_of(compilers_folder(root) / name) == 0644);
}

TEST_CASE_FIXTURE(Fixture, "a private folder becomes shared with what is in it, where that is asked") {
  REQUIRE(store.put(key, entry));
  store.add_to_index(key, Marks::of("gemm"));
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(store.root() / "v1" / "index") == 0600);
  CHECK(store.lock().state() != LockState::unsupported);
  REQUIRE(Store::open(store.root(), {.shared = true}));
  CHECK(mode_of(store.root()) == 0755);
  CHECK(mode_of(path.parent_path()) == 0755);
  CHECK(mode_of(path) == 0644);
  CHECK(mode_of(store.root() / "v1" / "index") == 0644);
  CHECK(mode_of(store.root() / "v1" / "lock") == 0600);
  REQUIRE(Store::open(store.root(), {.shared = false}).value().put(sample_key(4), sample_entry(4)));
  CHECK(mode_of(entry_path(store.root(), sample_key(4))) == 0644);
}

TEST_CASE_FIXTURE(Fixture, "any flipped byte of the file is a miss, and the next put heals it") {
  REQUIRE(store.put(key, entry));
  const std::string sound = read_file(path).value();
  unsigned hits = 0;
  for (std::size_t i = 0; i < sound.size(); i += 7) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    REQUIRE(write_file(path, damaged));
    hits += store.get(key).entry.has_value();
  }
  CHECK(hits == 0);
  CHECK(heals());
}

TEST_CASE_FIXTURE(Fixture, "a truncated file is corrupt, an empty one too") {
  REQUIRE(store.put(key, entry));
  for (const off_t size : {off_t{400}, off_t{128}, off_t{1}, off_t{0}}) {
    REQUIRE(::truncate(path.c_str(), size) == 0);
    const Lookup found = store.get(key);
    CHECK_FALSE(found.entry);
    CHECK(found.reason == MissReason::corrupt);
    CHECK(found.detail.find(path.string()) != std::string::npos);
  }
  CHECK(heals());
}

TEST_CASE_FIXTURE(Fixture, "an entry copied to another key's place is not that key's") {
  REQUIRE(store.put(sample_key(9), sample_entry(9)));
  fs::copy_file(entry_path(store.root(), sample_key(9)), path);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  CHECK(store.get(key).reason == MissReason::wrong_key);
  CHECK(heals());
}

TEST_CASE_FIXTURE(Fixture, "a link, a folder, a pipe and a foreign file are misses that do not block") {
  REQUIRE(write_file(path, "not an entry, yet longer than the smallest one: " + std::string(200, '.')));
  ::chmod(path.c_str(), 0600);
  CHECK(store.get(key).reason == MissReason::format);
  CHECK(heals());

  const fs::path elsewhere = folder.path() / "elsewhere";
  fs::rename(path, elsewhere);
  fs::create_symlink(elsewhere, path);
  CHECK(store.get(key).reason == MissReason::untrusted);
  CHECK(store.get(key).detail.ends_with("it is a symbolic link"));
  CHECK(heals());
  CHECK_FALSE(fs::is_symlink(path));

  fs::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(store.get(key).reason == MissReason::untrusted);
  CHECK(heals());

  fs::remove(path);
  fs::create_directory(path);
  CHECK(store.get(key).reason == MissReason::untrusted);
  CHECK(heals());
  CHECK_FALSE(has_temporary_files(path.parent_path()));

  fs::remove(path);
  fs::create_directory(path);
  REQUIRE(write_file(path / "notes.txt", "somebody's notes"));
  CHECK(heals());
  CHECK(has_temporary_files(path.parent_path()));  // put aside: it is not ours to remove
  CHECK(cache_clear(store.root()).value() == 2);
  CHECK_FALSE(has_temporary_files(path.parent_path()));
}

TEST_CASE_FIXTURE(Fixture, "an entry that others can write to is not read") {
  REQUIRE(store.put(key, entry));
  ::chmod(path.c_str(), 0666);
  CHECK(store.get(key).reason == MissReason::untrusted);
  CHECK(store.get(key).detail.ends_with("others can write to it (mode 0666)"));
  CHECK(heals());
}

TEST_CASE_FIXTURE(Fixture, "a sparse file of four gigabytes costs no memory and no time") {
  REQUIRE(write_file(path, "x"));
  ::chmod(path.c_str(), 0600);
  REQUIRE(::truncate(path.c_str(), off_t{4} << 30) == 0);
  CHECK(store.get(key).reason == MissReason::corrupt);
}

TEST_CASE_FIXTURE(Fixture, "a folder that is removed while in use is made again") {
  fs::remove_all(store.root());
  CHECK(store.get(key).reason == MissReason::absent);
  CHECK(heals());
  fs::remove_all(path.parent_path());
  CHECK(heals());
}

TEST_CASE("a folder that others can write to, a link and a file are refused with the reason") {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "cache";
  fs::create_directory(root);
  ::chmod(root.c_str(), 0777);
  auto store = Store::open(root);
  REQUIRE_FALSE(store);
  CHECK(store.error().message.find("with mode 0777") != std::string::npos);
  CHECK(store.error().message.find("chmod go-w") != std::string::npos);
  if (::geteuid() == 0) {  // root makes no folder below another user's either
    ::chmod(root.c_str(), 0755);
    REQUIRE(::chown(root.c_str(), 65534, 65534) == 0);
    store = Store::open(root);
    REQUIRE_FALSE(store);
    CHECK(store.error().message.ends_with("; run as that user, chown it to root, or name a folder of root's"));
    REQUIRE(::chown(root.c_str(), 0, 0) == 0);
  }

  ::chmod(root.c_str(), 0700);
  fs::create_directory_symlink(root, folder.path() / "link");
  CHECK(Store::open(folder.path() / "link").error().message.find("symbolic link") != std::string::npos);
  REQUIRE(write_file(folder.path() / "file", "x"));
  CHECK(Store::open(folder.path() / "file").error().message.find("not a folder") != std::string::npos);
  CHECK(Store::open(folder.path() / "file" / "below").error().message.find("Not a directory") != std::string::npos);
  CHECK(Store::open("").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("relative names and a slash at the end name the same folder") {
  const TemporaryFolder folder;
  CHECK(Store::open(folder.path() / "cache/").value().root() == folder.path() / "cache");
  CHECK(Store::open(folder.path() / "x" / ".." / "cache").value().root() == folder.path() / "cache");
}

TEST_CASE_FIXTURE(Fixture, "compilers are remembered, the latest used first, and damage is ignored") {
  CHECK(store.compilers().empty());
  REQUIRE(store.record_compiler("nvrtc 12.9 abc"));
  REQUIRE(store.record_compiler("nvrtc 13.0 def"));
  REQUIRE(store.record_compiler("nvrtc 13.0 def"));
  const auto folder_of_records = compilers_folder(store.root());
  REQUIRE(names_in(FileSystem::system(), AT_FDCWD, folder_of_records.c_str()).size() == 2);
  for (const std::string& name : names_in(FileSystem::system(), AT_FDCWD, folder_of_records.c_str())) {
    const bool older = read_file(folder_of_records / name).value() == "nvrtc 12.9 abc";
    const timespec then{std::time(nullptr) - (older ? 9000 : 5000), 0};
    const timespec times[] = {then, then};
    REQUIRE(::utimensat(AT_FDCWD, (folder_of_records / name).c_str(), times, 0) == 0);
  }
  CHECK(store.compilers() == std::vector<std::string>{"nvrtc 13.0 def", "nvrtc 12.9 abc"});
  REQUIRE(store.record_compiler("nvrtc 12.9 abc"));
  CHECK(store.compilers().front() == "nvrtc 12.9 abc");

  REQUIRE(write_file(folder_of_records / std::string(64, 'a'), "an identity under another's name"));
  CHECK(store.compilers().size() == 2);
  CHECK_FALSE(store.record_compiler(""));
  CHECK_FALSE(store.record_compiler(std::string(5000, 'x')));
}

TEST_CASE_FIXTURE(Fixture, "a hit marks an entry as used, once in five minutes") {
  REQUIRE(store.put(key, entry));
  const std::time_t now = std::time(nullptr);
  const auto used_after_a_hit = [&](std::time_t before) {
    REQUIRE(FileSystem::system().set_time(AT_FDCWD, path.c_str(), before) == 0);
    CHECK(store.get(key).entry);
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mtime;
  };
  CHECK(used_after_a_hit(now - 200) == now - 200);
  CHECK(used_after_a_hit(now - 400) >= now - 1);
  CHECK(used_after_a_hit(now + 100) == now + 100);
  CHECK(used_after_a_hit(now + 100'000) <= now + 60);  // a clock was wrong
}

// The bound catches blunders only: emulated machines and sanitizers run this too. Aimed for are 100 us.
TEST_CASE_FIXTURE(Fixture, "a hit of 64 KB takes tens of microseconds") {
  entry = sample_entry(3, 65536);
  REQUIRE(store.put(key, entry));
  double best_us = 1e9;
  for (int i = 0; i < 200; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const bool hit = store.get(key).entry.has_value();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    REQUIRE(hit);
    best_us = std::min(best_us, took.count());
  }
  INFO("a hit of 64 KB: " << best_us << " us");
  CHECK(best_us < 20000);
}

}  // namespace tma_jit::cache

#include "cache/pack_policy.h"

#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <tma_jit/cache.h>

#include "base/environment.h"
#include "base/file.h"
#include "cache/layers.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

namespace fs = std::filesystem;

// A pack that a builder signed, and what a process that may use it reports.
struct Fixture {
  TemporaryFolder folder;
  fs::path pack = folder.path() / "kernels.tmjpack";
  fs::path key = folder.path() / "builder.pub";
  LayerSettings settings;
  std::vector<std::string> reports, warnings;

  Fixture() {
    const fs::path root = folder.path() / "cache";
    REQUIRE(Store::open(root).value().put(sample_key(1), sample_entry(1)));
    REQUIRE(cache_keygen(folder.path() / "builder.key", key));
    REQUIRE(cache_pack(root, pack, folder.path() / "builder.key"));
    settings.read_only = {pack, pack};
    settings.system_keys = folder.path() / "no rule";
    settings.report = [this](const std::string& what) { reports.push_back(what); };
    settings.warn = [this](const std::string& what) { warnings.push_back(what); };
  }
  bool serves() const {
    Layers layers(settings);
    const bool first = layers.get(sample_key(1)).entry.has_value();
    CHECK(layers.get(sample_key(1)).entry.has_value() == first);
    return first;
  }
  // Refused, and said once whatever the number of packs and of questions.
  bool is_refused_for(const std::string& why) {
    reports.clear();
    warnings.clear();
    if (serves() || warnings.size() != 1 || !reports.empty()) return false;
    INFO(warnings[0]);
    CHECK(warnings[0].starts_with(
        "no pack is trusted, because the rule that says whose are cannot be read: public key "));
    CHECK(warnings[0].find(why) != std::string::npos);
    return true;
  }
};

// As Kubernetes mounts a ConfigMap or a Secret: a link to "..data", which is a link to the current version's folder.
void mount(const fs::path& volume, const fs::path& key) {
  const fs::path version = volume / "..2026_11_22_08_00_00.1234";
  fs::create_directories(version);
  fs::copy_file(key, version / "builder.pub");
  fs::create_directory_symlink(version.filename(), volume / "..data");
  fs::create_symlink("..data/builder.pub", volume / "builder.pub");
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a pack is trusted without a rule, and by the keys that are named or the administrator's") {
  CHECK(serves());
  settings.pack_keys = {key};
  CHECK(serves());
  settings.pack_keys.clear();
  settings.system_keys = folder.path() / "trusted.d";
  fs::create_directory(settings.system_keys);
  CHECK(is_refused_for("this folder of keys has no *.pub"));
  fs::copy_file(key, settings.system_keys / "builder.pub");
  CHECK(serves());
  REQUIRE(cache_keygen(folder.path() / "other.key", settings.system_keys / "other.pub"));
  CHECK(serves());
  fs::remove(settings.system_keys / "builder.pub");
  CHECK_FALSE(serves());
  CHECK(reports.size() == 2);
  CHECK(warnings.size() == 1);  // of the empty folder
}

TEST_CASE_FIXTURE(Fixture, "a rule that cannot be read refuses every pack, and says so once") {
  settings.pack_keys = {""};
  CHECK(is_refused_for("named by nothing"));
  settings.pack_keys = {key, folder.path() / "none.pub"};
  CHECK(is_refused_for("none.pub: No such file"));
  REQUIRE(write_file(folder.path() / "bad.pub", "no key"));
  settings.pack_keys = {key, folder.path() / "bad.pub"};
  Layers layers(settings);
  CHECK_FALSE(layers.get(sample_key(1)).entry);
  settings.pack_keys.clear();
  settings.system_keys = folder.path() / "trusted.d";
  fs::create_symlink(folder.path() / "nowhere", settings.system_keys);
  CHECK(is_refused_for("nowhere"));
  CHECK_FALSE(cache_unpack(pack, folder.path() / "unpacked", {folder.path() / "none.pub"}));
  CHECK_FALSE(cache_verify(pack, {""}));
}

TEST_CASE("a folder of keys that this user may not read refuses every pack") {
  if (::geteuid() != 0) return;  // to become somebody else
  const Fixture made;
  ::chmod(made.folder.path().c_str(), 0755);
  const fs::path hidden = made.folder.path() / "trusted.d", around = made.folder.path() / "etc";
  fs::create_directories(around / "trusted.d");
  for (const fs::path& keys : {hidden, around / "trusted.d"}) {
    fs::create_directories(keys);
    fs::copy_file(made.key, keys / "builder.pub");
  }
  REQUIRE(::chmod(hidden.c_str(), 0700) == 0);
  REQUIRE(::chmod(around.c_str(), 0700) == 0);
  REQUIRE(::seteuid(65534) == 0);
  std::string by_folder, by_parent;
  for (auto [keys, error] : {std::pair(hidden, &by_folder), std::pair(around / "trusted.d", &by_parent)}) {
    const auto policy = read_pack_policy({}, keys);
    *error = policy ? "trusted" : policy.error().message;
  }
  REQUIRE(::seteuid(0) == 0);
  CHECK(by_folder.find("Permission denied") != std::string::npos);
  CHECK(by_parent.find("Permission denied") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "keys are found as orchestrators mount them, and through no link of a stranger's") {
  const fs::path volume = folder.path() / "volume";
  mount(volume, key);
  ::chmod(volume.c_str(), 0777);  // as a mounted volume's folder is
  settings.pack_keys = {volume};
  CHECK(serves());
  settings.pack_keys = {volume / "builder.pub"};
  CHECK(serves());
  fs::create_directory(folder.path() / "elsewhere");
  fs::create_symlink("../volume/builder.pub", folder.path() / "elsewhere" / "mine.pub");
  settings.pack_keys = {folder.path() / "elsewhere"};
  CHECK(serves());
  fs::create_symlink("loop.pub", folder.path() / "elsewhere" / "loop.pub");
  CHECK(is_refused_for("more than 40 links"));
  if (::geteuid() != 0) return;
  fs::remove(folder.path() / "elsewhere" / "loop.pub");
  REQUIRE(::lchown((folder.path() / "elsewhere" / "mine.pub").c_str(), 65534, 65534) == 0);
  CHECK(is_refused_for("belongs to user 65534"));
  REQUIRE(::chown((volume / "..data" / "builder.pub").c_str(), 65534, 65534) == 0);
  settings.pack_keys = {volume};
  CHECK_FALSE(serves());
}

TEST_CASE("a variable that is set to nothing is a rule that cannot be met") {
  const char* before = std::getenv("TMA_JIT_PACK_KEYS");
  const std::string kept = before != nullptr ? before : "";
  ::unsetenv("TMA_JIT_PACK_KEYS");
  CHECK(ProcessEnvironment::read().pack_keys.empty());
  for (const char* nothing : {"", ":"}) {
    ::setenv("TMA_JIT_PACK_KEYS", nothing, 1);
    CHECK(ProcessEnvironment::read().pack_keys == std::vector<fs::path>{""});
  }
  ::setenv("TMA_JIT_PACK_KEYS", "/a.pub:", 1);
  CHECK(ProcessEnvironment::read().pack_keys == std::vector<fs::path>{"/a.pub"});
  ::unsetenv("TMA_JIT_PACK_KEYS");
  if (before != nullptr) ::setenv("TMA_JIT_PACK_KEYS", kept.c_str(), 1);
}

}  // namespace tma_jit::cache

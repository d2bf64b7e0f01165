// The search for NVRTC, over made-up folders: nothing is loaded, so any bytes serve as a library.
#include "compile/locate.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/file.h"
#include "compile/release.h"
#include "support/temporary_folder.h"

namespace tma_jit::compile {
namespace {

namespace fs = std::filesystem;

class Machine {
 public:
  Machine() {
    places.root = root_;
    places.loaded = places.loader = false;
  }

  fs::path install(const fs::path& folder, const std::string& major, const std::string& release) const {
    fs::create_directories(root_ / folder);
    const fs::path library = root_ / folder / ("libnvrtc.so." + major);
    REQUIRE(write_file(library, "nvrtc " + release));
    REQUIRE(write_file(root_ / folder / ("libnvrtc-builtins.so." + release), "builtins " + release));
    return library;
  }
  fs::path operator/(const fs::path& below) const { return root_ / below; }

  Places places;

 private:
  const TemporaryFolder folder_;
  const fs::path root_ = folder_.path();
};

std::string found(const Machine& machine) {
  const auto location = locate(machine.places);
  return location ? location->path.string() : location.error().text();
}

}  // namespace

TEST_CASE("nothing found: every folder tried is listed, and what to do") {
  Machine machine;
  const fs::path missing = machine / "no/cuda";
  machine.places.toolkits = {missing};
  fs::create_directories(machine / "usr/local/cuda-12.9/lib64");
  const auto location = locate(machine.places);
  REQUIRE_FALSE(location);
  CHECK(location.error().code == ErrorCode::nvrtc);
  CHECK(location.error().message == "NVRTC was not found: no libnvrtc.so.13, libnvrtc.so.12 or libnvrtc.so");
  const std::string& tried = location.error().detail;
  CHECK(tried.starts_with("tried\n  " + missing.string() + ": no such folder\n"));
  CHECK(tried.find((machine / "usr/local/cuda-12.9/lib64: no libnvrtc.so.13").string()) != std::string::npos);
  CHECK(tried.find("name the library in TMA_JIT_NVRTC") != std::string::npos);
}

TEST_CASE("the wanted library or folder is taken, and nothing else when it is not there") {
  Machine machine;
  const fs::path other = machine.install("usr/local/cuda/lib64", "13", "13.0");
  const fs::path mine = machine.install("mine", "12", "12.9");
  machine.places.wanted = mine;
  CHECK(found(machine) == mine);
  machine.places.wanted = machine / "mine";
  CHECK(found(machine) == mine);
  machine.places.wanted = machine / "bogus.so";
  const auto location = locate(machine.places);
  REQUIRE_FALSE(location);
  CHECK(location.error().message == fmt::format("NVRTC was not found at {}", (machine / "bogus.so").string()));
  CHECK(location.error().detail.find("No such file or directory") != std::string::npos);
  CHECK(location.error().detail.find(other) == std::string::npos);
}

TEST_CASE("the order: toolkit variables, the loader's folders, /usr/local, newest first, then Python's packages") {
  Machine machine;
  machine.places.environments = {machine / "venv"};
  const fs::path pip = machine.install("venv/lib/python3.12/site-packages/nvidia/cu13/lib", "13", "13.0");
  CHECK(found(machine) == pip);
  const fs::path named = machine.install("packages/nvidia/cuda_nvrtc/lib", "12", "12.9");
  machine.places.folders = {machine / "packages/nvidia/cu13/lib", machine / "packages/nvidia/cuda_nvrtc/lib"};
  CHECK(found(machine) == named);
  machine.install("usr/local/cuda-12.9/targets/x86_64-linux/lib", "12", "12.9");
  const fs::path newest = machine.install("usr/local/cuda-13.10/lib64", "13", "13.10");
  machine.install("usr/local/cuda-13.9/lib64", "13", "13.9");
  CHECK(found(machine) == newest);
  const fs::path chosen = machine.install("usr/local/cuda/lib64", "13", "13.0");
  CHECK(found(machine) == chosen);
  const fs::path by_loader = machine.install("opt/lib", "12", "12.8");
  machine.places.loader_folders = {machine / "opt/lib"};
  CHECK(found(machine) == by_loader);
  const fs::path toolkit = machine.install("home/cuda/targets/sbsa-linux/lib", "13", "13.1");
  machine.places.toolkits = {machine / "home/cuda"};
  CHECK(found(machine) == toolkit);
}

TEST_CASE("an older release is passed over and said to be too old") {
  Machine machine;
  const fs::path old = machine.install("usr/local/cuda/lib64", "12", "12.4");
  CHECK(found(machine).find(old.string() + ": release 12.4; 12.8 is the oldest that serves") != std::string::npos);
  const fs::path good = machine.install("usr/local/cuda-12.8/lib64", "12", "12.8");
  CHECK(found(machine) == good);
}

TEST_CASE("the identity follows the bytes of both libraries, not their place") {
  Machine machine;
  const fs::path first = machine.install("a", "13", "13.0");
  const fs::path second = machine.install("b", "13", "13.0");
  const auto identity = [](const fs::path& path) { return locate(path).value().identity; };
  CHECK(identity(first).starts_with("nvrtc 13.0 sha256-"));
  CHECK(identity(first) == identity(second));
  REQUIRE(write_file(machine / "b/libnvrtc-builtins.so.13.0", "patched"));
  CHECK(identity(first) != identity(second));
  REQUIRE(write_file(machine / "b/libnvrtc-builtins.so.13.0", "builtins 13.0"));
  REQUIRE(write_file(second, "patched"));
  CHECK(identity(first) != identity(second));
}

TEST_CASE("releases are read from names and ordered by number") {
  CHECK(Release::in("cuda-12.9") == Release{12, 9});
  CHECK(Release::in(".so.13") == Release{13, -1});
  CHECK(Release::in("cuda") == Release{});
  CHECK(Release{13, 10} > Release{13, 9});
  CHECK(Release{12, 9}.text() == "12.9");
  CHECK(Release{}.text() == "unknown");
}

TEST_CASE("what a release lacks, and the first that serves a target") {
  const auto mentions = [](Release release, std::string_view words) {
    for (const std::string& phrase : missing_features(release)) {
      if (phrase.find(words) != std::string::npos) return true;
    }
    return false;
  };
  CHECK(mentions({12, 8}, "suffix f"));
  CHECK(mentions({12, 8}, "sm_121a"));
  CHECK_FALSE(mentions({12, 9}, "suffix f"));
  CHECK(mentions({12, 9}, "sm_110"));
  CHECK_FALSE(mentions({13, 0}, "sm_110"));
  CHECK(first_release_for("sm_103a") == Release{12, 9});
  CHECK(first_release_for("sm_100a") == Release{12, 8});
  CHECK(first_release_for("sm_100f") == Release{12, 9});
  CHECK(first_release_for("sm_90a").major == 0);
}

}  // namespace tma_jit::compile

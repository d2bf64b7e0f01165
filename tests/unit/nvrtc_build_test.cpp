// What is read of an NVRTC's files, and that a process notices when they change.
#include "compile/nvrtc_build.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include <doctest/doctest.h>

#include "base/file.h"
#include "support/temporary_folder.h"

namespace tma_jit::compile {
namespace {

namespace fs = std::filesystem;

// Files that are no libraries: their ids are digests of their bytes.
struct Toolkit {
  TemporaryFolder folder;
  fs::path library = folder.path() / "libnvrtc.so.13", builtins = folder.path() / "libnvrtc-builtins.so.13.1";

  Toolkit() {
    write(library, "library");
    write(builtins, "builtins");
  }
  static void write(const fs::path& path, std::string_view text) { REQUIRE(write_file(path, text).has_value()); }
  NvrtcBuild read() const {
    const auto build = nvrtc_build(library);
    REQUIRE(build.has_value());
    return *build;
  }
  // Changes are remembered only once they are older than the resolution of any file system's clock.
  static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(2100)); }
};

}  // namespace

TEST_CASE("an NVRTC without builtins has no known release, and a missing one is an error") {
  const Toolkit toolkit;
  fs::remove(toolkit.builtins);
  CHECK(toolkit.read().release == Release{});
  fs::remove(toolkit.library);
  CHECK_FALSE(nvrtc_build(toolkit.library).has_value());
}

TEST_CASE("an NVRTC's ids are read again when any of its files changes") {
  const Toolkit toolkit;
  Toolkit::settle();
  const NvrtcBuild first = toolkit.read();
  CHECK(first.release == Release{13, 1});
  CHECK(toolkit.read().ids == first.ids);

  SUBCASE("the builtins are written in place, at the same size") {
    Toolkit::write(toolkit.builtins, "BUILTINS");
    CHECK(toolkit.read().ids != first.ids);
  }
  SUBCASE("newer builtins are added") {
    Toolkit::write(toolkit.folder.path() / "libnvrtc-builtins.so.13.2", "newer");
    CHECK(toolkit.read().release == Release{13, 2});
  }
}

}  // namespace tma_jit::compile

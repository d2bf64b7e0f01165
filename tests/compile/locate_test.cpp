// What locate() says of the machine's real NVRTC.
#include "compile/locate.h"

#include "base/library.h"
#include "nvrtc_fixture.h"
#include "support/temporary_folder.h"

namespace tma_jit::compile {

TEST_CASE("the real NVRTC is found with an identity made of both libraries") {
  const Location location = locate(std::filesystem::path()).value();
  CHECK(std::filesystem::exists(location.path));
  CHECK(location.identity.starts_with("nvrtc "));
  CHECK(location.identity.find(build_id(location.path).value()) != std::string::npos);
}

TEST_CASE("its identity does not depend on the path it is found by") {
  const Location location = locate(std::filesystem::path()).value();
  const Location real = locate(std::filesystem::canonical(location.path)).value();
  const Location folder = locate(location.path.parent_path()).value();
  CHECK(real.identity == location.identity);
  CHECK(folder.identity == location.identity);
}

TEST_CASE("a bogus wanted path is an error that names it and searches no further") {
  const TemporaryFolder folder;
  const auto wanted = folder.path() / "libnvrtc.so.13";
  const auto location = locate(wanted);
  REQUIRE_FALSE(location);
  CHECK(location.error().code == ErrorCode::nvrtc);
  CHECK(location.error().message == "NVRTC was not found at " + wanted.string());
  CHECK(location.error().detail.find(wanted.string() + ": No such file or directory") != std::string::npos);
}

TEST_CASE("a library this process has loaded is found first") {
  nvrtc();
  const TemporaryFolder empty;
  Places places;
  places.root = empty.path();
  places.loader = false;
  const auto location = locate(places);
  REQUIRE(location);
  CHECK(location->identity == nvrtc().location().identity);
}

}  // namespace tma_jit::compile

#include "base/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/file.h"
#include "compile/locate.h"
#include "support/temporary_folder.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

struct Place {
  TemporaryFolder folder;
  fs::path inner = folder.path() / "inner";
  fs::path file = inner / "program";
  Place() {
    fs::create_directory(inner);
    REQUIRE(write_file(file, "text"));
    mode(inner, 0755);
    mode(file, 0755);
  }
  static void mode(const fs::path& path, mode_t bits) { REQUIRE(::chmod(path.c_str(), bits) == 0); }
  std::string fault() const {
    const auto checked = check_trusted(file);
    return checked ? "" : checked.error().message;
  }
};

}  // namespace

TEST_CASE("a file is trusted where only root and this user can have put it") {
  Place place;
  CHECK(place.fault().empty());
  Place::mode(place.inner, 01777);
  CHECK(place.fault().empty());
  Place::mode(place.inner, 0777);
  CHECK(place.fault().starts_with(place.inner.string() + " (owner "));
  CHECK(place.fault().find("mode 0777") != std::string::npos);
  Place::mode(place.inner, 0755);
  Place::mode(place.file, 0757);
  CHECK(place.fault().starts_with(place.file.string() + " (owner "));
}

TEST_CASE("links are followed, and what they lead to is judged") {
  Place place, other;
  fs::remove(place.file);
  fs::create_symlink(other.file, place.file);
  CHECK(place.fault().empty());
  Place::mode(other.inner, 0777);
  CHECK(place.fault().starts_with(other.inner.string()));
  fs::remove(other.file);
  CHECK(place.fault().starts_with("cannot look at"));
}

TEST_CASE("another user's file is not trusted, nor what lies in another user's folder") {
  if (::geteuid() != 0) {
    MESSAGE("needs root: not tried");
    return;
  }
  Place place;
  REQUIRE(::chown(place.file.c_str(), 12345, 12345) == 0);
  CHECK(place.fault().starts_with(place.file.string() + " (owner 12345, group 12345"));
  REQUIRE(::chown(place.file.c_str(), 0, 0) == 0);
  REQUIRE(::chown(place.inner.c_str(), 12345, 0) == 0);
  CHECK(place.fault().starts_with(place.inner.string() + " (owner 12345"));
}

TEST_CASE("an NVRTC that is found by search is passed over where others can put one; a named one is not") {
  Place place;
  const fs::path library = place.inner / "libnvrtc.so.13";
  fs::rename(place.file, library);
  compile::Places places;
  places.root = place.folder.path() / "none";
  places.loaded = places.loader = false;
  places.loader_folders = {place.inner};
  CHECK(compile::locate(places));
  Place::mode(place.inner, 0777);
  const auto passed_over = compile::locate(places);
  REQUIRE_FALSE(passed_over);
  CHECK(passed_over.error().detail.find(place.inner.string() + " (owner") != std::string::npos);
  places.wanted = library;
  CHECK(compile::locate(places));
}

}  // namespace tma_jit

// The container recipe of docs/caching.md: a folder that root warms is used by everyone.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "command.h"

namespace tma_jit::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAsUser = "setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs ";

// A folder that any user gets to, unlike the scratch folder of other tests' files.
struct Image {
  fs::path root = scratch_folder() / "image";

  Image() {
    fs::create_directories(root / "home");
    for (const fs::path& path : {scratch_folder(), root}) ::chmod(path.c_str(), 0755);
    REQUIRE(::chown((root / "home").c_str(), 65534, 65534) == 0);
  }
  std::string at(const char* name) const { return (root / name).string(); }
};

// In the environment of the container's user, without a compiler.
CommandResult as_user(const Image& image, const std::string& variable, const std::string& words) {
  const std::string out = image.at("out"), err = image.at("err");
  const std::string command = std::string(kAsUser) + "env -i HOME=" + image.at("home") + " " + variable + " " +
                              TMA_JIT_COMMAND " " + words + " > " + out + " 2> " + err;
  const int status = std::system(command.c_str());
  const auto content_of = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  return {WEXITSTATUS(status), content_of(out), content_of(err)};
}

bool others_can_run_it() {
  return ::geteuid() == 0 &&
         std::system((std::string(kAsUser) + "env " TMA_JIT_COMMAND " --help > /dev/null 2>&1").c_str()) == 0;
}

}  // namespace

TEST_CASE("a folder that root warmed as shared serves every user; a private one serves nobody else") {
  if (!has_compiler() || !others_can_run_it()) return;
  const Image image;
  const std::string build = "build copy N=1048576 --device h100 --json --nvrtc /none/libnvrtc.so";
  const auto warm = [&](const char* folder, std::vector<std::string> more) {
    std::vector<std::string> words = {"build", "copy",        "N=1048576",     "--device",
                                      "h100",  "--cache-dir", image.at(folder)};
    words.insert(words.end(), more.begin(), more.end());
    REQUIRE(run_command(words).exit == 0);
  };
  const mode_t before = ::umask(0077);  // as a hardened build has it
  warm("warmed", {"--shared"});
  REQUIRE(std::system(("cp -a " + image.at("warmed") + " " + image.at("kernels")).c_str()) == 0);  // COPY --from=build
  warm("private", {});
  ::umask(before);

  const CommandResult served = as_user(image, "TMA_JIT_CACHE_RO=" + image.at("kernels"), build);
  INFO(served.err);
  CHECK(served.exit == 0);
  CHECK(served.json()["compiled"] == false);
  CHECK(served.err.empty());
  const CommandResult direct = as_user(image, "TMA_JIT_CACHE_DIR=" + image.at("kernels"), build);
  INFO(direct.err);
  CHECK(direct.exit == 0);
  CHECK(direct.err.empty());
  const CommandResult refused = as_user(image, "TMA_JIT_CACHE_RO=" + image.at("private"), build);
  CHECK(refused.exit != 0);
  CHECK(refused.err.find("private") != std::string::npos);

  warm("private", {"--shared"});
  CHECK(as_user(image, "TMA_JIT_CACHE_RO=" + image.at("private"), build).exit == 0);
  CHECK(run_command({"build", "copy", "N=4", "--device", "h100", "--shared", "--no-cache"}).exit == 2);
}

TEST_CASE("an unpacked pack can be for everyone to read") {
  if (!has_compiler() || ::geteuid() != 0) return;
  const Image image;
  REQUIRE(run_command({"build", "copy", "N=1048576", "--device", "h100", "--cache-dir", image.at("made")}).exit == 0);
  REQUIRE(run_command({"cache", "pack", image.at("all.tmjpack"), "--cache-dir", image.at("made")}).exit == 0);
  REQUIRE(run_command({"cache", "unpack", image.at("all.tmjpack"), "--shared", "--cache-dir", image.at("open")}).exit ==
          0);
  unsigned files = 0;
  for (const auto& item : fs::recursive_directory_iterator(image.at("open"))) {
    struct stat status {};
    REQUIRE(::lstat(item.path().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == (item.is_directory() ? 0755 : 0644));
    files += item.is_regular_file() ? 1 : 0;
  }
  CHECK(files >= 3);
}

}  // namespace tma_jit::cli

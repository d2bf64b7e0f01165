// Where the user's cache lies, by the XDG base directory specification.
#include <pwd.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <vector>

#include <tma_jit/cache.h>

namespace tma_jit {
namespace {

// The home of another user, which a root shell with that user's environment (sudo -E) would fill with files of root's.
bool is_foreign(const std::filesystem::path& path) {
  struct stat status {};
  return ::geteuid() == 0 && ::stat(path.c_str(), &status) == 0 && status.st_uid != 0;
}

// The specification says that a relative path is to be ignored.
std::filesystem::path absolute_from(const char* variable) {
  const char* value = ::secure_getenv(variable);
  std::filesystem::path path(value != nullptr ? value : "");
  return path.is_absolute() && !is_foreign(path) ? path : std::filesystem::path();
}

std::filesystem::path home_folder() {
  if (auto home = absolute_from("HOME"); !home.empty()) return home;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  const std::filesystem::path home(found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "");
  return home.is_absolute() ? home : std::filesystem::path();
}

}  // namespace

std::filesystem::path default_cache_dir() {
  if (::getauxval(AT_SECURE) != 0 || ::getuid() != ::geteuid()) return {};
  if (const char* named = ::secure_getenv("TMA_JIT_CACHE_DIR"); named != nullptr && *named != '\0') return named;
  if (auto caches = absolute_from("XDG_CACHE_HOME"); !caches.empty()) return caches / "tma-jit";
  const auto home = home_folder();
  return home.empty() ? home : home / ".cache" / "tma-jit";
}

}  // namespace tma_jit

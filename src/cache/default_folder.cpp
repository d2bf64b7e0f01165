#include "cache/default_folder.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <tma_jit/cache.h>

namespace tma_jit {
namespace {

// Returns whether root would write into another user's home, as a root shell with that user's environment (sudo -E)
// would; the files there would then belong to root.
bool is_foreign(const std::filesystem::path& path) {
  struct stat status {};
  return ::geteuid() == 0 && ::stat(path.c_str(), &status) == 0 && status.st_uid != 0;
}

// The XDG specification requires relative paths to be ignored.
std::filesystem::path usable(const std::filesystem::path& path) {
  return path.is_absolute() && !is_foreign(path) ? path : std::filesystem::path();
}

std::filesystem::path home_folder(const ProcessEnvironment& environment) {
  if (auto home = usable(environment.home); !home.empty()) return home;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(16384);
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  const std::filesystem::path home(found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "");
  return home.is_absolute() ? home : std::filesystem::path();
}

}  // namespace

namespace cache {

std::filesystem::path default_folder(const ProcessEnvironment& environment) {
  if (has_raised_privileges()) return {};
  if (!environment.cache_dir.empty()) return environment.cache_dir;
  if (auto caches = usable(environment.xdg_cache_home); !caches.empty()) return caches / "tma-jit";
  const auto home = home_folder(environment);
  return home.empty() ? home : home / ".cache" / "tma-jit";
}

}  // namespace cache

std::filesystem::path default_cache_dir() {
  return cache::default_folder(ProcessEnvironment::read());
}

}  // namespace tma_jit

#include "base/own_folders.h"

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "base/fork.h"
#include "base/library.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

// Returns the path of the file that contains this code; empty if the loader knows it only by a relative path or does
// not work.
fs::path own_file() {
  if (!loader_works()) return {};
  const NoFork no_fork;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_folders), &info) == 0 || info.dli_fname == nullptr) return {};
  const fs::path file = info.dli_fname;
  return file.is_absolute() ? file : fs::path();
}

// Returns the path from which the program was started, even if that file has been replaced since.
fs::path own_program() {
  std::error_code failed;
  const std::string path = fs::read_symlink("/proc/self/exe", failed).string();
  constexpr std::string_view kDeleted = " (deleted)";
  return failed ? fs::path()
                : fs::path(path.ends_with(kDeleted) ? path.substr(0, path.size() - kDeleted.size()) : path);
}

void add_folder(std::vector<fs::path>& folders, const fs::path& file) {
  std::error_code failed;
  fs::path folder = fs::canonical(file, failed).parent_path();
  if (failed) folder = fs::canonical(file.parent_path(), failed);
  if (!file.empty() && !failed) folders.push_back(folder);
}

}  // namespace

std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  add_folder(folders, own_file());
  add_folder(folders, own_program());
  if (folders.size() == 2 && folders[0] == folders[1]) folders.pop_back();
  return folders;
}

}  // namespace tma_jit

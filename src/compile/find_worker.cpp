#include "compile/find_worker.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>

namespace tma_jit::compile {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> self_offered = false;

// Follows the link in the child too, where it names the same program, even when its file was replaced since.
constexpr const char* kSelf = "/proc/self/exe";

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// The file that holds this code; empty where the loader knows it by a relative path only, as it may a program.
fs::path own_file() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&offer_self), &info) == 0 || info.dli_fname == nullptr) return {};
  const fs::path file = info.dli_fname;
  return file.is_absolute() ? file : fs::path();
}

// Where the program was started from, also when its file has been replaced since.
fs::path own_program() {
  std::error_code failed;
  const std::string path = fs::read_symlink(kSelf, failed).string();
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

void offer_self() {
  self_offered = true;
}

std::vector<fs::path> worker_folders() {
  std::vector<fs::path> folders;
  add_folder(folders, own_file());
  add_folder(folders, own_program());
  if (folders.size() == 2 && folders[0] == folders[1]) folders.pop_back();
  return folders;
}

std::vector<fs::path> worker_programs(const fs::path& wanted, std::vector<fs::path>* looked) {
  if (!wanted.empty()) return {wanted};
  std::vector<fs::path> programs;
  if (self_offered && ::access(kSelf, X_OK) == 0) programs.emplace_back(kSelf);
  for (const fs::path& folder : worker_folders()) {
    for (const char* place : {".", "../bin", "../libexec/tma-jit", "../../libexec/tma-jit"}) {
      const fs::path path = (folder / place / kWorkerProgram).lexically_normal();
      if (looked != nullptr) looked->push_back(path);
      if (is_program(path)) programs.push_back(path);
    }
  }
  return programs;
}

}  // namespace tma_jit::compile

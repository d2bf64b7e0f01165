#include "compile/find_worker.h"

#include <unistd.h>

#include <atomic>

#include "base/own_folders.h"
#include "base/trusted_path.h"

namespace tma_jit::compile {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> self_offered = false;

// In the child the link still names the same program, even if its file has been replaced.
constexpr const char* kSelf = "/proc/self/exe";

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

void offer_self() {
  self_offered = true;
}

fs::path real_program(const fs::path& program) {
  if (program != kSelf) return program;
  std::error_code failed;
  const fs::path file = fs::read_symlink(kSelf, failed);
  return failed ? program : file;
}

Result<void> check_worker_place(const fs::path& program) {
  return program == kSelf ? Result<void>() : check_trusted(program);
}

std::vector<fs::path> worker_programs(const fs::path& wanted, std::vector<fs::path>* looked) {
  if (!wanted.empty()) return {wanted};
  std::vector<fs::path> programs;
  if (self_offered && ::access(kSelf, X_OK) == 0) programs.emplace_back(kSelf);
  for (const fs::path& folder : own_folders()) {
    for (const char* place : {".", "../bin", "../libexec/tma-jit", "../../libexec/tma-jit"}) {
      const fs::path path = (folder / place / kWorkerProgram).lexically_normal();
      if (looked != nullptr) looked->push_back(path);
      if (is_program(path)) programs.push_back(path);
    }
  }
  return programs;
}

}  // namespace tma_jit::compile

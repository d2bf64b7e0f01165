#include "base/companion.h"

#include "base/own_folders.h"
#include "base/trusted_path.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

// A bare name is left to the loader.
Result<Library> open_found(const fs::path& candidate) {
  std::error_code ignored;
  if (candidate.has_parent_path() && fs::exists(candidate, ignored)) TMA_JIT_CHECK(check_trusted(candidate));
  return Library::open(candidate);
}

}  // namespace

std::vector<fs::path> companion_files(std::string_view name, const fs::path& wanted) {
  if (!wanted.empty()) return {wanted};
  std::vector<fs::path> files;
  for (const fs::path& folder : own_folders()) {
    for (const char* place : {".", "../lib", "../lib64"}) files.push_back((folder / place / name).lexically_normal());
  }
  files.emplace_back(name);
  for (const fs::path& folder : loader_folders({})) files.push_back(folder / name);
  return files;
}

Result<Library> open_companion(std::string_view name, const fs::path& wanted, Error missing) {
  for (const fs::path& candidate : companion_files(name, wanted)) {
    auto library = wanted.empty() ? open_found(candidate) : Library::open(candidate);
    if (library) return library;
    missing.detail += attempt_line(candidate, library.error());
  }
  return tl::make_unexpected(std::move(missing));
}

}  // namespace tma_jit

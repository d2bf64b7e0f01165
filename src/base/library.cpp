#include "base/library.h"

#include <dlfcn.h>

#include "base/fork.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

// Returns whether the path is a pipe, which the loader would wait for, a folder or a device. A bare name is never
// special: the loader searches for it.
bool is_special(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return path.has_parent_path() && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

}  // namespace

Result<Library> Library::open(const std::filesystem::path& path) {
  if (!loader_works()) {
    return failure(ErrorCode::unsupported,
                   "{}: this process was forked while another thread of its parent loaded a library, and it can load "
                   "none: fork at another time, or start a program in the child",
                   path.string());
  }
  if (is_special(path)) return failure(ErrorCode::not_found, "{}: it is not a plain file", path.string());
  const NoFork no_fork;
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return failure(ErrorCode::not_found, "{}", reason != nullptr ? reason : "dlopen failed");
  }
  Library library;
  library.handle_ = std::shared_ptr<void>(handle, [](void* open) {
    const NoFork closing;
    ::dlclose(open);
  });
  library.path_ = path;
  return library;
}

void* Library::symbol(const char* name) const {
  const NoFork no_fork;
  return ::dlsym(handle_.get(), name);
}

std::string attempt_line(const std::filesystem::path& path, const Error& error) {
  std::string_view reason = error.message;
  if (const std::string prefix = path.string() + ": "; reason.starts_with(prefix)) reason.remove_prefix(prefix.size());
  return fmt::format("{}: {}\n", path.string(), reason);
}

std::vector<std::filesystem::path> loader_folders(std::vector<std::filesystem::path> folders) {
#if defined(__x86_64__)
  folders.emplace_back("/usr/lib/x86_64-linux-gnu");
#elif defined(__aarch64__)
  folders.emplace_back("/usr/lib/aarch64-linux-gnu");
#endif
  for (const char* folder : {"/usr/local/lib", "/usr/lib64", "/usr/lib"}) folders.emplace_back(folder);
  return folders;
}

}  // namespace tma_jit

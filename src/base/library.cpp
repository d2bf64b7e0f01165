#include "base/library.h"

#include <dlfcn.h>

#include "base/failure.h"
#include "base/text.h"

namespace tma_jit {

Result<Library> Library::open(const std::filesystem::path& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return failure(ErrorCode::not_found, "{}", reason != nullptr ? reason : "dlopen failed");
  }
  Library library;
  library.handle_ = std::shared_ptr<void>(handle, [](void* open) { ::dlclose(open); });
  library.path_ = path;
  return library;
}

void* Library::symbol(const char* name) const {
  return ::dlsym(handle_.get(), name);
}

std::vector<std::filesystem::path> loader_folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* listed = ::getenv("LD_LIBRARY_PATH"); listed != nullptr) {
    for (const std::string_view folder : split(listed, ':')) {
      if (!folder.empty()) folders.emplace_back(folder);
    }
  }
#if defined(__x86_64__)
  folders.emplace_back("/usr/lib/x86_64-linux-gnu");
#elif defined(__aarch64__)
  folders.emplace_back("/usr/lib/aarch64-linux-gnu");
#endif
  for (const char* folder : {"/usr/local/lib", "/usr/lib64", "/usr/lib"}) folders.emplace_back(folder);
  return folders;
}

}  // namespace tma_jit

// Shared libraries opened at run time: by candidates in order, remembering what was tried; and a library's identity
// (GNU build id) read from the file without loading it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit {

// Open for as long as the object lives. Copies share.
class Library {
 public:
  static Result<Library> open(const std::filesystem::path& path);

  // nullptr when the library has no such symbol.
  void* symbol(const char* name) const;
  template <class Function> bool find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(symbol(name));
    return function != nullptr;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::shared_ptr<void> handle_;
  std::filesystem::path path_;
};

// The GNU build id of an ELF file as hex; the file's SHA-256 where it has none.
Result<std::string> build_id(const std::filesystem::path& path);

// The folders the loader would look in for a bare name, in its order: LD_LIBRARY_PATH, then the system's.
std::vector<std::filesystem::path> loader_folders();

}  // namespace tma_jit

// Shared libraries opened at run time from a list of candidates, with a record of the failed attempts; and a library's
// identity (GNU build id), read without loading it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit {

// A shared library that stays open while any copy of the object exists.
class Library {
 public:
  [[nodiscard]] static Result<Library> open(const std::filesystem::path& path);

  // Returns nullptr if the library has no such symbol. No fork happens meanwhile, as in every call of the loader.
  void* symbol(const char* name) const;
  template <class Function> bool find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(symbol(name));
    return function != nullptr;
  }
  const std::filesystem::path& path() const { return path_; }
  void* handle() const { return handle_.get(); }

 private:
  std::shared_ptr<void> handle_;
  std::filesystem::path path_;
};

// Returns whether this process may use the dynamic loader. The child of a fork may not if another thread of its parent
// was in the loader: the loader's locks stay taken and its lists may be inconsistent. A child finds out once, by trying
// it in a process of its own.
bool loader_works();

// Returns a line for an error's detail that lists attempts: the path and the loader's message.
std::string attempt_line(const std::filesystem::path& path, const Error& error);

// Returns the GNU build id of an ELF file in hex, or the file's SHA-256 if it has none.
[[nodiscard]] Result<std::string> build_id(const std::filesystem::path& path);
// Returns the build id of a loaded library, given a handle of dlopen. It is read from memory, so that a replaced file
// does not matter. If there is no id, returns the SHA-256 of the file that now has the library's path.
[[nodiscard]] Result<std::string> build_id(void* handle);

// Returns the folders in which the loader looks for a bare name: `folders`, those of LD_LIBRARY_PATH, then the
// system's.
[[nodiscard]] std::vector<std::filesystem::path> loader_folders(std::vector<std::filesystem::path> folders);

}  // namespace tma_jit

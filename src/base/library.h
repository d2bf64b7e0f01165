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
  [[nodiscard]] static Result<Library> open(const std::filesystem::path& path);

  // nullptr when the library has no such symbol.
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

// Whether this process may ask the dynamic loader for anything. In a child of a fork it may not where another thread
// was in the loader when its parent forked: what that thread had locked stays so, and what it changed is half done. A
// child finds out once, in a process of its own.
bool loader_works();

// A line for the detail of an error that lists what was tried: the path, and what the loader said of it.
std::string attempt_line(const std::filesystem::path& path, const Error& error);

// The GNU build id of an ELF file as hex; the file's SHA-256 where it has none.
[[nodiscard]] Result<std::string> build_id(const std::filesystem::path& path);
// The same of a library that is loaded, by a handle of dlopen: its id is read from memory, so that a file that was
// replaced since does not matter. The SHA-256 for want of an id is of the file that has the library's path now.
[[nodiscard]] Result<std::string> build_id(void* handle);

// The folders the loader would look in for a bare name, in its order: those of LD_LIBRARY_PATH, then the system's.
[[nodiscard]] std::vector<std::filesystem::path> loader_folders(std::vector<std::filesystem::path> library_path);

}  // namespace tma_jit

// Opening a cache folder: creating it if it is missing, and deciding whether it is trusted.
#pragma once

#include <filesystem>

#include <tma_jit/error.h>

#include "base/descriptor.h"
#include "cache/file_system.h"

namespace tma_jit::cache {

// The folder of the format, <root>/v1, as an open descriptor. All later accesses use the descriptor, so that a rename
// cannot replace what was checked.
struct Root {
  Descriptor folder;
  bool writable = false;  // as far as owner, mode and mount tell
  bool local = false;     // whether only this machine changes the file system
  bool shared = false;    // whether every user may read it and new files in it
};

// Creates the missing parts of the folder, v1, the shards and the tag for backup programs, all with mode 0700, or with
// `shared` 0755 and readable by all, which also changes an existing folder. Fails if nothing can be created, and unless
// both folders belong to this user (or, for reading, to root), are not links and are closed to writes by others. Root
// creates none in another user's folder.
[[nodiscard]] Result<Root> open_root(const FileSystem& files, const std::filesystem::path& path, bool shared = false);
// The same without creating anything; fails (not_found) if there is no such folder or nothing of this format in it.
[[nodiscard]] Result<Root> open_existing_root(const FileSystem& files, const std::filesystem::path& path);

// Returns whether an open file is on a file system that only this machine changes.
bool is_local(const FileSystem& files, int file);

// Creates the shards and "compilers" below an open v1; existing ones stay unchanged.
void make_shards(const FileSystem& files, int folder, bool shared);

// Modes of new folders and files.
constexpr mode_t folder_mode(bool shared) {
  return shared ? 0755 : 0700;
}
constexpr mode_t file_mode(bool shared) {
  return shared ? 0644 : 0600;
}

// Opens the folder itself, by the rules of open_root, if it may be read; no descriptor if it does not exist.
[[nodiscard]] Result<Descriptor> open_trusted(const FileSystem& files, const std::filesystem::path& root);

}  // namespace tma_jit::cache

// Opening a cache folder: making it where it is missing, and deciding whether it is to be trusted.
#pragma once

#include <filesystem>

#include <tma_jit/error.h>

#include "base/descriptor.h"
#include "cache/files.h"

namespace tma_jit::cache {

// The folder of the format, <root>/v1, held open: every later look is by this descriptor, so that what was checked is
// what is used, whatever is renamed meanwhile.
struct Root {
  Descriptor folder;
  bool writable = false;  // as far as owner, mode and mount tell
  bool local = false;     // on a file system that only this machine changes
  bool shared = false;    // readable by everyone; what is put there is to be so too
};

// Makes what is missing of the folder, v1, the shards and the tag that backup programs look for; all 0700, or with
// `shared` 0755 and open to all readers, also where it was there before. Fails when
// nothing can be made, and unless both folders are of this user (or, for reading, of root), no links, and closed to
// others. The super user makes none in a folder of another user's.
[[nodiscard]] Result<Root> open_root(const Files& files, const std::filesystem::path& path, bool shared = false);
// The same without making anything; not_found where there is no such folder or nothing of this format in it.
[[nodiscard]] Result<Root> open_existing_root(const Files& files, const std::filesystem::path& path);

// Whether an open file is on a file system that only this machine changes.
bool is_local(const Files& files, int file);

// The shards and "compilers" below an open v1; those that are there are left alone.
void make_shards(const Files& files, int folder, bool shared);

// The modes of what is made.
constexpr mode_t folder_mode(bool shared) {
  return shared ? 0755 : 0700;
}
constexpr mode_t file_mode(bool shared) {
  return shared ? 0644 : 0600;
}

// Fails unless `root` may be read, by the rules of open_root.
[[nodiscard]] Result<void> check_trusted(const std::filesystem::path& root);

}  // namespace tma_jit::cache

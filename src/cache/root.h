// Opening a cache folder: making it where it is missing, and deciding whether it is to be believed.
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
};

// Makes what is missing of the folder, v1, the shards and the tag that backup programs look for; all 0700. Fails when
// nothing can be made, and unless both folders are of this user (or, for reading, of root), no links, and closed to
// others. The super user makes none in a folder of another user's.
Result<Root> open_root(const Files& files, const std::filesystem::path& path);
// The same without making anything; not_found where there is no such folder or nothing of this format in it.
Result<Root> open_existing_root(const Files& files, const std::filesystem::path& path);

// The shards and "compilers" below an open v1; those that are there are left alone.
void make_shards(const Files& files, int folder);

// Fails unless `root` may be read, by the rules of open_root.
Result<void> check_trusted(const std::filesystem::path& root);

}  // namespace tma_jit::cache

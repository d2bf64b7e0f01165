// Whether only root and this user can have put a file in its place.
#pragma once

#include <filesystem>

#include <tma_jit/error.h>

namespace tma_jit {

// Succeeds if the file, with links followed, belongs to root or the effective user and nobody else can write to it or
// change a folder on the way to it. A sticky folder (/tmp) may be writable by all, since the files in it are checked by
// their own owner. A folder that is writable by a group passes if root owns it or the group is this process's own. The
// owner of "/" counts as root, because a user namespace may map root's files to another number. Fails with io; the
// message names the file or folder, its owner and its mode.
[[nodiscard]] Result<void> check_trusted(const std::filesystem::path& path);

}  // namespace tma_jit

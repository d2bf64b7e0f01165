// Whether a file can have been put where it is by someone else than root and this user.
#pragma once

#include <filesystem>

#include <tma_jit/error.h>

namespace tma_jit {

// Passes where the file, with links followed, belongs to root or to the effective user, and nobody else can write to it
// or change a folder on the way to it. A folder with the sticky bit (/tmp) may be open to all: what lies in it is
// judged by its own owner. A folder that a group can write to passes where it is root's or the group is this process's
// own. Root is also whoever owns "/", since a user namespace may give root's files another number. Fails with io; the
// message names the file or folder, its owner and mode.
[[nodiscard]] Result<void> check_trusted(const std::filesystem::path& path);

}  // namespace tma_jit

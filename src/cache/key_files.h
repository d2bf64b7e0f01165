// Where public keys lie: files, and folders of them, as administrators put them and orchestrators mount them.
#pragma once

#include <filesystem>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit::cache {

// The files that `named` stands for: a file is itself, a folder every *.pub in it, in the order of their names. Links
// are followed where each belongs to this user or to root: a mounted key is a link through a link ("..data") to a file
// of the version that is current. What comes back has no links left. Fails (io) where anything cannot be looked at,
// and where a name is empty or a folder has no key, so that what was asked for never turns into no rule at all.
[[nodiscard]] Result<std::vector<std::filesystem::path>> key_files(const std::vector<std::filesystem::path>& named);

}  // namespace tma_jit::cache

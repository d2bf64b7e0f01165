// Finds public keys: files, or folders of them, as administrators install them and orchestrators mount them.
#pragma once

#include <filesystem>
#include <vector>

#include <tma_jit/error.h>

namespace tma_jit::cache {

// Returns the files that `named` stands for: a file is itself, a folder is every *.pub in it, in order of name. A link
// is followed if it belongs to this user or root: a mounted key is usually a link through another link ("..data") to
// the current version. The result contains no links. Fails (io) if anything cannot be examined, if a name is empty or
// if a folder has no key, so that a configured rule is never silently dropped.
[[nodiscard]] Result<std::vector<std::filesystem::path>> key_files(const std::vector<std::filesystem::path>& named);

}  // namespace tma_jit::cache

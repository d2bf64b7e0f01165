// The folders of this library and of the program, beside which an installation keeps its other files.
#pragma once

#include <filesystem>
#include <vector>

namespace tma_jit {

// Returns the folder of the file that contains this code, then the program's folder if it differs, with links resolved.
// Folders that cannot be determined are left out.
std::vector<std::filesystem::path> own_folders();

}  // namespace tma_jit

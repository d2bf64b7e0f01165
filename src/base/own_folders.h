// Where this code lies: the folders beside which an installation has what belongs to it.
#pragma once

#include <filesystem>
#include <vector>

namespace tma_jit {

// The folder of the file that holds this code, and the folder of the program where it is another one. Links are
// followed. A folder that cannot be found out is left out.
std::vector<std::filesystem::path> own_folders();

}  // namespace tma_jit

// Shared libraries of this project that are opened at run time and that an installation keeps beside the core.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include <tma_jit/error.h>

#include "base/library.h"

namespace tma_jit {

// Returns the files to try, in order: only `wanted` if it is set; else `name` beside this library and beside the
// program, in ../lib and ../lib64 of both, and where the loader searches.
std::vector<std::filesystem::path> companion_files(std::string_view name, const std::filesystem::path& wanted);

// Opens the first of these files that can be opened. One that was found by search must be a file that others could not
// have put there. If there is none, returns `missing` with the attempts added to its detail.
[[nodiscard]] Result<Library> open_companion(std::string_view name, const std::filesystem::path& wanted, Error missing);

}  // namespace tma_jit

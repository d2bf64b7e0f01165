// Texts that the command line names.
#pragma once

#include <filesystem>
#include <string>

#include <tma_jit/error.h>

namespace tma_jit::cli {

// The whole of a file, or of a pipe, as <(...) of a shell is one. Never waits for long: a pipe that nobody writes to,
// or that gives nothing for ten seconds, is an error.
[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& path);

}  // namespace tma_jit::cli

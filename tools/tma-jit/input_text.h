// Reads texts that the command line names.
#pragma once

#include <filesystem>
#include <string>

#include <tma_jit/error.h>

namespace tma_jit::cli {

// Returns the content of a file, or of a pipe such as a shell's <(...). A pipe without a writer, or without data for
// ten seconds, is an error.
[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& path);

}  // namespace tma_jit::cli

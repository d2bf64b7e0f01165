// Files that verbs write: regular files only, and after a failure no part of one is left.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::cli {

// Writes a new file, or over an old one. Fails with io.
[[nodiscard]] Result<void> write_bytes(const std::filesystem::path& path, std::span<const std::byte> head,
                                       std::span<const std::byte> body);
[[nodiscard]] Result<void> write_text(const std::filesystem::path& path, std::string_view text);
// Writes a file beside it and renames that, so that the output may be one of the inputs. Fails with io.
[[nodiscard]] Result<void> replace_text(const std::filesystem::path& path, std::string_view text);

}  // namespace tma_jit::cli

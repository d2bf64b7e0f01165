// Whole files in and out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit {

// The file's bytes; `limit` guards against reading a device or a huge file by mistake.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{64} << 20);
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

// A folder, no link to one, of this user's, that nobody else can write to.
bool is_private_folder(const std::filesystem::path& path);

}  // namespace tma_jit

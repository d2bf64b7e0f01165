// Whole files in and out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

#include "base/descriptor.h"

namespace tma_jit {

// Opens an existing regular file to read, without waiting: a folder, pipe, socket or device in its place is an error
// (io).
[[nodiscard]] Result<Descriptor> open_file(const std::filesystem::path& path);

// The bytes of a regular file; `limit` guards against reading a huge one by mistake.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t limit = std::size_t{64} << 20);
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);
// Adds to the end of a regular file, which is made where there is none: in one write, so that what several processes
// add does not mix.
[[nodiscard]] Result<void> append_to_file(const std::filesystem::path& path, std::string_view bytes);

// A folder, no link to one, of this user's, that nobody else can write to.
bool is_private_folder(const std::filesystem::path& path);

}  // namespace tma_jit

// Reading and writing of whole files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

#include "base/descriptor.h"

namespace tma_jit {

// Opens an existing regular file for reading without blocking. A folder, pipe, socket or device is an error (io).
[[nodiscard]] Result<Descriptor> open_file(const std::filesystem::path& path);

// Returns the bytes of a regular file; fails if it has more than `limit`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t limit = std::size_t{64} << 20);
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);
// Fails (io) if the path, whose links are followed, is there and is no regular file: a rename to it would put a file in
// the place of a folder, pipe or device.
[[nodiscard]] Result<void> check_replaceable(const std::filesystem::path& path);
// Writes a file beside it and renames that, so that a reader sees either the old or the new bytes. Fails as
// check_replaceable does.
[[nodiscard]] Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes);
// Appends to a regular file, which is created if missing, with a single write, so that the additions of several
// processes do not mix.
[[nodiscard]] Result<void> append_to_file(const std::filesystem::path& path, std::string_view bytes);

// Returns whether the path is a folder (not a link to one) that belongs to this user and that nobody else can write to.
bool is_private_folder(const std::filesystem::path& path);

}  // namespace tma_jit

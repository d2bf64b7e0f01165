// Atomic creation of a file: a reader never sees an incomplete one.
#pragma once

#include <cstddef>
#include <ctime>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "cache/file_system.h"

namespace tma_jit::cache {

// Why a file was not written.
struct WriteFault {
  int error = 0;  // errno
  std::string detail;
};

// Returns the time of the clock of the folder's file system, which on a server may differ from this machine's. Returns
// this machine's if nothing can be written.
std::time_t clock_of(const FileSystem& files, int folder);

// Creates a temporary file beside `path`, writes, flushes and renames it. Replaces an existing file, so that a damaged
// one is repaired and two writers never block each other. A folder in its place is renamed to a temporary name, and
// removed if it is empty. Leaves no file behind on failure. The file's mode is exactly `mode`. Returns the file's
// modification time, by the file system's clock.
[[nodiscard]] tl::expected<std::time_t, WriteFault> publish(const FileSystem& files, int folder,
                                                            const std::string& path, std::span<const std::byte> bytes,
                                                            mode_t mode = 0600);

}  // namespace tma_jit::cache

// Putting a file in its place so that no reader ever sees half of it.
#pragma once

#include <cstddef>
#include <ctime>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "cache/files.h"

namespace tma_jit::cache {

// Why a file was not written.
struct WriteFault {
  int error = 0;  // errno
  std::string detail;
};

// What the clock of the folder's file system says: that of a server may differ from this machine's. This machine's
// where nothing can be written.
std::time_t clock_of(const Files& files, int folder);

// Creates a temporary file beside `path`, writes, flushes, renames. Replaces whatever is there, so that a damaged file
// is healed and two writers never refuse each other; a folder in its place is put aside under a temporary name, and
// removed where it is empty. Leaves nothing behind when it fails. Its mode is exactly `mode`. Returns when the file was
// made, by the file system's own clock.
[[nodiscard]] tl::expected<std::time_t, WriteFault> publish(const Files& files, int folder, const std::string& path,
                                                            std::span<const std::byte> bytes, mode_t mode = 0600);

}  // namespace tma_jit::cache

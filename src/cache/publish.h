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

// Creates a temporary file beside `path`, writes, flushes, renames. Replaces whatever file is there, so that a damaged
// one is healed and two writers never refuse each other. Leaves nothing behind when it fails. Returns when the file was
// made, by the file system's own clock.
tl::expected<std::time_t, WriteFault> publish(const Files& files, int folder, const std::string& path,
                                              std::span<const std::byte> bytes);

}  // namespace tma_jit::cache

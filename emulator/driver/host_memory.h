// How much memory this machine can still give. The emulator keeps device memory in the machine's own, and fills it: an
// allocation of a device's size on a small machine would have the machine's kernel end some process.
#pragma once

#include <filesystem>

#include "emulator/word.h"

namespace tma_jit::emulator {

// Bytes that the system has available, and the process's control groups leave. Reads proc/ and sys/ below `root`; all
// ones where they say nothing.
u64 available_memory(const std::filesystem::path& root = "/");

// What `bytes` of device memory take of it: a bit for each tells whether it has been written.
constexpr u64 host_bytes(u64 bytes) {
  return bytes + bytes / 8;
}

}  // namespace tma_jit::emulator

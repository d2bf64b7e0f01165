// The memory available on the host. The emulator stores device memory in host memory and fills it, so that an
// allocation of a device's size on a small host would cause the out-of-memory killer to end a process.
#pragma once

#include <filesystem>

#include "emulator/word.h"

namespace tma_jit::emulator::driver {

// Returns the bytes that the system and the process's control groups leave available, or all ones if they are unknown.
// Reads proc/ and sys/ below `root`.
u64 available_memory(const std::filesystem::path& root = "/");

// Host bytes for `bytes` of device memory, including one bit per byte that records whether it was written.
constexpr u64 host_bytes(u64 bytes) {
  return bytes + bytes / 8;
}

}  // namespace tma_jit::emulator::driver

// Reading of complete files that only this user can have written.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "cache/entry.h"
#include "cache/file_system.h"

namespace tma_jit::cache {

struct File {
  std::vector<std::byte> bytes;
  std::time_t modified = 0;
};

// Accuracy of a file's time of last use; shorter than the time within which eviction treats a file as just used.
inline constexpr std::time_t kUseSeconds = 300;

struct Reading {
  std::size_t limit = kEntryBytesMax;
  bool touch = false;  // set the time of last use to now if it is off by more than kUseSeconds
};

struct ReadFault : Fault {
  int error = 0;  // errno if reading failed
};

// Opens without following a link or blocking on a pipe, and reads a regular file of this user or root that others
// cannot write. Bytes are copied, not mapped: a mapped file that another machine replaces would raise SIGBUS.
[[nodiscard]] tl::expected<File, ReadFault> read_trusted(const FileSystem& files, int folder, const char* path,
                                                         const Reading& how);

// The same for only a file's first bytes.
[[nodiscard]] tl::expected<File, ReadFault> read_head(const FileSystem& files, int folder, const char* path,
                                                      std::size_t bytes);

// Returns why a file with this status may not be read; nullopt if it may.
std::optional<Fault> refusal(const struct stat& status, std::size_t limit);

}  // namespace tma_jit::cache

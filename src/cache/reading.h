// Reading a file whole, if it is one that only this user could have written.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "cache/entry.h"
#include "cache/files.h"

namespace tma_jit::cache {

struct File {
  std::vector<std::byte> bytes;
  std::time_t modified = 0;
};

// How exactly a file's time says when it was used; less than what eviction calls just used.
inline constexpr std::time_t kUseSeconds = 300;

struct Reading {
  std::size_t limit = kEntryBytesMax;
  bool touch = false;  // mark as used now, where its time is off by more than kUseSeconds
};

struct ReadFault : Fault {
  int error = 0;  // errno, where reading failed
};

// Opens without following a link or waiting on a pipe, and reads a plain file of this user's or root's that others
// cannot write to. Bytes are copied, never mapped: a mapped file that another machine replaces ends the process.
[[nodiscard]] tl::expected<File, ReadFault> read_trusted(const Files& files, int folder, const char* path,
                                                         const Reading& how);

// The same of a file's first bytes only.
[[nodiscard]] tl::expected<File, ReadFault> read_head(const Files& files, int folder, const char* path,
                                                      std::size_t bytes);

// nullopt when a file of this status may be read.
std::optional<Fault> refusal(const struct stat& status, std::size_t limit);

}  // namespace tma_jit::cache

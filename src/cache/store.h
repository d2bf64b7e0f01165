// The folder of entries: get, put, and the compilers that made them. Never in the way: a fault is a miss with a
// reason, a failed write an error to count and warn of once.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "cache/entry.h"

namespace tma_jit::cache {

struct Lookup {
  std::optional<Entry> entry;
  MissReason reason = MissReason::none;
  std::string detail;  // one line for the log; empty for a hit and for MissReason::absent
};

// A value that is cheap to copy; holds no file open, so that a fork, a removed folder or a full descriptor table harms
// nothing. All of it may be called from any thread and beside other processes on the same folder.
class Store {
 public:
  // Makes the folder (0700) with its shards where it is missing. A folder that can only be read is opened for reading.
  // Fails when there is nothing to read and nothing can be made, or when others could have written to it.
  static Result<Store> open(const std::filesystem::path& root);

  // Reads and verifies one entry. An unsound one is left for the next `put` to replace.
  Lookup get(const Key& key) const;
  // Written beside its place, flushed, then renamed: a reader sees the old entry, the new one, or none.
  Result<void> put(const Key& key, const Entry& entry) const;

  // Identities of the compilers that put entries here, the latest used first, at most 64. A process without NVRTC
  // finds entries by trying these.
  std::vector<std::string> compilers() const;
  Result<void> record_compiler(std::string_view identity) const;

  const std::filesystem::path& root() const { return root_; }
  bool writable() const { return writable_; }

 private:
  Store(std::filesystem::path root, bool writable) : root_(std::move(root)), writable_(writable) {}
  Result<void> write(const std::filesystem::path& path, std::span<const std::byte> bytes) const;

  std::filesystem::path root_;
  bool writable_ = false;
};

}  // namespace tma_jit::cache

// The folder of entries: get, put, and the list of compilers that made them. Its faults are never errors of the caller:
// on reading a miss with a reason, on writing an error to be counted and warned of once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/file_system.h"
#include "cache/layer.h"
#include "cache/lock.h"
#include "cache/reading.h"
#include "cache/sweep.h"

namespace tma_jit::cache {

struct StoreOptions {
  const FileSystem* files = &FileSystem::system();
  Limits limits;
  unsigned sweep_every = 32;                // average number of writes between two looks at some shards; smaller for a
                                            // small limit
  std::chrono::milliseconds pause{60'000};  // without writes after the disk is full
  bool existing = false;                    // open an existing folder for reading and create nothing
  bool shared = false;                      // whether every user may read it
};

// Movable, thread-safe, and usable while other processes use the same folder. Keeps the folder open; if it is removed,
// the next `put` creates it again.
class Store final : public Layer {
 public:
  // Creates the folder (0700) and its shards if missing. Opens a folder that is not writable for reading. Fails if
  // there is nothing to read and nothing can be created, or if others could have written to the folder.
  [[nodiscard]] static Result<Store> open(const std::filesystem::path& root, const StoreOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store() override;

  // Leaves an unsound entry for the next `put` to replace.
  Lookup get(const Key& key) const override;
  // Writes a temporary file, flushes and renames it: a reader sees the old entry, the new one, or none.
  [[nodiscard]] Result<void> put(const Key& key, std::span<const std::byte> encoded) const override;
  [[nodiscard]] Result<void> put(const Key& key, const Entry& entry) const;

  // Returns at most 64. A process without NVRTC finds entries by trying these.
  std::vector<std::string> compilers() const override;
  [[nodiscard]] Result<void> record_compiler(std::string_view identity) const override;

  std::string records() const override;
  Nearest nearest(const Question& question) const override;
  // Adds the marks of an entry that was put.
  void add_to_index(const Key& key, const Marks& marks) const;

  const std::string& name() const override;
  const std::filesystem::path& root() const;
  bool writable() const;  // becomes false after a permanent write error
  bool local() const override;
  // Returns a lock in this folder that is not yet taken.
  Lock lock() const;
  std::uint64_t evicted() const;  // entries removed by this object

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tma_jit::cache

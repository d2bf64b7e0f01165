// The folder of entries: get, put, and the compilers that made them. It never fails its caller: a fault is a miss with
// a reason, a failed write an error to count and warn of once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/files.h"
#include "cache/layer.h"
#include "cache/lock.h"
#include "cache/reading.h"
#include "cache/sweep.h"

namespace tma_jit::cache {

struct StoreOptions {
  const Files* files = &Files::system();
  Limits limits;
  unsigned sweep_every = 32;                // publishes, on average, for a look at a few shards; fewer of a small limit
  std::chrono::milliseconds pause{60'000};  // without writing, once there is no space
  bool existing = false;                    // open what is there for reading, and make nothing
  bool shared = false;                      // for everyone to read
};

// May be moved, and used from any thread and beside other processes on the same folder. Holds the folder open; when
// somebody removes it, the next `put` makes it anew.
class Store final : public Layer {
 public:
  // Makes the folder (0700) with its shards where it is missing. A folder that can only be read is opened for reading.
  // Fails when there is nothing to read and nothing can be made, or when others could have written to it.
  [[nodiscard]] static Result<Store> open(const std::filesystem::path& root, const StoreOptions& options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store() override;

  // An unsound entry is left for the next `put` to replace.
  Lookup get(const Key& key) const override;
  // Written beside its place, flushed, then renamed: a reader sees the old entry, the new one, or none.
  [[nodiscard]] Result<void> put(const Key& key, std::span<const std::byte> encoded) const override;
  [[nodiscard]] Result<void> put(const Key& key, const Entry& entry) const;

  // At most 64. A process without NVRTC finds entries by trying these.
  std::vector<std::string> compilers() const override;
  [[nodiscard]] Result<void> record_compiler(std::string_view identity) const override;

  Nearest nearest(const Question& question) const override;
  // What tells an entry that was put from others.
  void add_to_index(const Key& key, const Marks& marks) const;

  const std::string& name() const override;
  const std::filesystem::path& root() const;
  bool writable() const;  // until a write is refused for good
  bool local() const override;
  // A lock in this folder, not yet taken.
  Lock lock() const;
  std::uint64_t evicted() const;  // by this object

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tma_jit::cache

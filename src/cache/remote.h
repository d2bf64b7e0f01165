// The remote level of the cache: one server that many machines read and fill. What it sends is verified as a folder's
// entries are; when it fails, callers wait once and then go on without it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/options.h>
#include <tma_jit/stats.h>

#include "base/fork.h"
#include "cache/entry.h"
#include "cache/pack_policy.h"
#include "cache/remote_client.h"

namespace tma_jit::cache {

struct RemoteSettings {
  RemoteAddress address;  // without a URL there is no remote level
  RemoteRole role = RemoteRole::read_write;
  std::chrono::milliseconds wait{1'000};    // of a caller for an answer
  std::chrono::milliseconds flush{5'000};   // for uploads, when the object ends
  std::filesystem::path sign_key;           // signs what is uploaded
  std::vector<std::filesystem::path> keys;  // see read_pack_policy
  std::filesystem::path system_keys = kSystemKeys;
};

class RemoteSession;

// Thread-safe. Opened at first use; the child of a fork opens it anew, and leaves what the parent queued to the parent.
class Remote {
 public:
  // Keeps an entry in a folder of this machine; called in a thread of its own.
  using Keep = std::function<void(std::span<const std::byte> encoded)>;
  // Returns whether an entry is what its reader needs, beyond being sound.
  using IsUsable = std::function<bool(const Entry& entry)>;

  // `warn` is called once at most, in a thread that calls this object.
  Remote(RemoteSettings settings, std::function<void(const std::string&)> warn);
  // Waits for uploads, at most as long as the settings allow.
  ~Remote();

  // Returns a verified entry, and has it kept; `held` is let go when it is. Waits at most as long as the settings
  // allow.
  std::optional<Entry> get(const Key& key, const IsUsable& is_usable, const Keep& keep,
                           std::shared_ptr<const void> held = {});
  // Asks the server for the compilers that made what was pushed to it.
  std::vector<std::string> compilers();
  // Uploads in the background; drops the entry if too many are waiting.
  void upload(const Key& key, std::vector<std::byte> encoded);
  void add_to(CacheStats& stats);

 private:
  struct Slot {
    std::mutex mutex;  // guards what follows
    bool opened = false;
    std::shared_ptr<RemoteSession> session;
  };
  std::shared_ptr<RemoteSession> session();
  void warn_of(const std::string& fault);

  const RemoteSettings settings_;
  const std::function<void(const std::string&)> warn_;
  std::atomic<std::uint64_t> hits_ = 0, misses_ = 0, errors_ = 0, refused_ = 0, skipped_ = 0, not_uploaded_ = 0;
  std::atomic<bool> warned_ = false;
  PerProcess<Slot> slot_;
};

}  // namespace tma_jit::cache

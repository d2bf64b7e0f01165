// The cache as an engine sees it, with a server behind it: what the tests of servers share.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cache/layers.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::testing {

// How long a cache waits for a server that answers: a machine with other work to do may need seconds.
inline constexpr std::chrono::seconds kPatience{10};

// One process's cache, with a folder of its own.
class Client {
 public:
  explicit Client(const std::string& url, RemoteRole role = RemoteRole::read_write) {
    settings.root = folder_.path() / "cache";
    settings.remote.address.url = url;
    settings.remote.role = role;
    settings.remote.wait = kPatience;
    settings.remote.system_keys = folder_.path() / "no-keys";
    settings.warn = [this](const std::string& text) { warnings.push_back(text); };
  }

  cache::Layers& layers() {
    if (!layers_) layers_.emplace(settings);
    return *layers_;
  }
  // Asks as an engine does: the folder first.
  std::optional<cache::Entry> get(const Key& key) {
    if (auto found = layers().get(key).entry) return found;
    return layers().turn(key).found;
  }
  void put(const Key& key, const cache::Entry& entry) {
    cache::Turn turn;
    (void)layers().put(key, entry, turn);
  }
  CacheStats stats() {
    CacheStats stats;
    layers().add_remote_stats(stats);
    return stats;
  }
  // Waits for what is done in the background.
  template <class Done> bool wait_for(Done done, int seconds = 60) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (std::chrono::steady_clock::now() < until) {
      if (done()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  // Ends the cache, which waits for uploads.
  void end() { layers_.reset(); }
  const std::filesystem::path& path() const { return folder_.path(); }

  cache::LayerSettings settings;
  std::vector<std::string> warnings;

 private:
  TemporaryFolder folder_{"/dev/shm"};  // no disk's time is measured
  std::optional<cache::Layers> layers_;
};

}  // namespace tma_jit::testing

// The cache as the engine sees it: a node-local folder, the user's folder, read-only folders and packs, and a server,
// searched in this order; and the locks by which one process compiles a kernel that others wait for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/layer.h"
#include "cache/lock.h"
#include "cache/pack_policy.h"
#include "cache/remote.h"
#include "cache/store.h"

namespace tma_jit::cache {

struct LayerSettings {
  std::filesystem::path root;                       // the user's folder; empty: none
  std::filesystem::path node;                       // empty: used if other machines may change `root`, in the default
                                                    // place
  std::filesystem::path runtime_dir;                // $XDG_RUNTIME_DIR, for the default of `node`
  std::vector<std::filesystem::path> read_only;     // folders and packs, in order
  std::vector<std::filesystem::path> pack_keys;     // public keys; if there are any, a pack must be signed by one of
                                                    // them
  std::filesystem::path system_keys = kSystemKeys;  // used if `pack_keys` is empty and this exists
  RemoteSettings remote;
  std::function<bool(const Key&, const Entry&)>
      is_usable;  // of an entry from a server, called in any thread; empty: all
  StoreOptions store;
  std::chrono::milliseconds wait{120'000};     // for another process that compiles the same kernel
  std::chrono::milliseconds patience{10'000};  // with a folder that does not answer
  std::function<void(const std::string&)> report = [](const std::string&) {};  // called with every fault
  std::function<void(const std::string&)> warn = [](const std::string&) {};    // called with warnings, once each
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// The right to compile one key, or the entry that another process made meanwhile. The right ends with the object.
struct Turn {
  std::optional<Entry> found;
  std::optional<Lock> key;  // held; absent if there are no locks or the wait was too long
};

// Thread-safe; opened at first use. A fault of a folder is reported and its layer is left out; it is not an error.
class Layers {
 public:
  explicit Layers(LayerSettings settings);
  ~Layers();

  // Never fails. If no layer has a sound entry, the result has the first layer's fault. Does not ask the server.
  Lookup get(const Key& key);
  // Call it after a miss. Waits, at most as long as allowed, while another process compiles the key, then asks the
  // server; an entry of the server's is put into the folders in the background. An entry for which `is_wanted` returns
  // false is ignored.
  Turn turn(const Key& key, const std::function<bool(const Entry&)>& is_wanted = {});
  // Asks the server for an entry that no folder has, and puts it into them in the background; `held` is let go then.
  std::optional<Entry> ask_remote(const Key& key, const std::function<bool(const Entry&)>& is_wanted = {},
                                  std::shared_ptr<const void> held = {});
  // Writes the nearest folder and releases the lock, then writes the farther folder. The server gets the entry in the
  // background.
  [[nodiscard]] Result<void> put(const Key& key, const Entry& entry, Turn& turn);

  std::vector<std::string> compilers();
  // Asks the server for those of what was pushed to it.
  std::vector<std::string> remote_compilers();
  // Returns the tuning records that read-only folders and packs carry, in their order, but for those without any.
  struct Records {
    std::string layer, lines;
  };
  std::vector<Records> records();
  // Searches all layers except the node's, whose entries the others have as well.
  Nearest nearest(const Question& question);
  void add_to_index(const Key& key, const Marks& marks);
  void record_compiler(std::string_view identity);
  // Succeeds if a compiled entry could be stored somewhere; else returns the reason.
  [[nodiscard]] Result<void> writable();

  struct Tally {
    std::atomic<std::uint64_t> node_hits = 0, read_only_hits = 0, waits = 0, wait_timeouts = 0, lockless = 0;
  };
  const Tally& tally() const { return tally_; }
  std::uint64_t evicted();
  void add_remote_stats(CacheStats& stats);

 private:
  struct Opened;
  Opened& opened();
  Turn local_turn(const Key& key, const std::function<bool(const Entry&)>& is_wanted);
  void open_user(Opened& all);
  void open_node(Opened& all);
  void open_read_only(Opened& all, const std::filesystem::path& path, std::set<std::string>& warned);
  template <class Open> auto within_patience(Open open, const std::filesystem::path& folder) const;
  const std::vector<std::shared_ptr<const Layer>>& read_only(Opened& all);

  const LayerSettings settings_;
  Tally tally_;
  std::mutex mutex_;  // guards `opened_`
  std::unique_ptr<Opened> opened_;
  std::optional<Remote> remote_;  // absent if no server is named
};

// Returns this user's folder on this machine: tma-jit in $XDG_RUNTIME_DIR, else /dev/shm/tma-jit-<uid>.
[[nodiscard]] std::filesystem::path default_node_folder(const std::filesystem::path& runtime_dir);

}  // namespace tma_jit::cache

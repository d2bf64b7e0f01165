// The cache as the engine sees it: a node-local folder, the user's folder, and read-only folders and packs, asked in
// this order; and the locks that let one process compile what others then find.
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
#include "cache/store.h"

namespace tma_jit::cache {

struct LayerSettings {
  std::filesystem::path root;                       // the user's folder; empty: none
  std::filesystem::path node;                       // empty: chosen where `root` is on a file system that others change
  std::filesystem::path runtime_dir;                // $XDG_RUNTIME_DIR, for the default of `node`
  std::vector<std::filesystem::path> read_only;     // folders and packs, in order
  std::vector<std::filesystem::path> pack_keys;     // public keys; where there are any, a pack must be signed by one
  std::filesystem::path system_keys = kSystemKeys;  // the same, where `pack_keys` is empty and this is there
  StoreOptions store;
  std::chrono::milliseconds wait{120'000};     // for another process that compiles the same
  std::chrono::milliseconds patience{10'000};  // with a folder that does not answer
  std::function<void(const std::string&)> report = [](const std::string&) {};  // faults, as they are met
  std::function<void(const std::string&)> warn = [](const std::string&) {};    // what is to be heard; met once each
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// The right to compile one key, or what another process compiled meanwhile. Ends with the object.
struct Turn {
  std::optional<Entry> found;
  std::optional<Lock> key;  // held, or absent where there are no locks or the wait was too long
};

// Thread-safe; opened at first use. No fault of a folder is an error here: it is reported, and its layer is left out.
class Layers {
 public:
  explicit Layers(LayerSettings settings);
  ~Layers();

  // Never fails; the first layer's fault is kept where no layer has a sound entry.
  Lookup get(const Key& key);
  // Call after a miss. Waits while another process compiles the key, but no longer than allowed. An entry that
  // `is_wanted` refuses counts as none.
  Turn turn(const Key& key, const std::function<bool(const Entry&)>& is_wanted = {});
  // In the nearest folder first; then others may go on, and the farther folder is written.
  [[nodiscard]] Result<void> put(const Key& key, const Entry& entry, Turn& turn);

  std::vector<std::string> compilers();
  // Of all layers but the node's own, which has nothing that another lacks for long.
  Nearest nearest(const Question& question);
  void add_to_index(const Key& key, const Marks& marks);
  void record_compiler(std::string_view identity);
  // Where a compile would be kept: ok, or why nowhere.
  [[nodiscard]] Result<void> writable();

  struct Tally {
    std::atomic<std::uint64_t> node_hits = 0, read_only_hits = 0, waits = 0, wait_timeouts = 0, lockless = 0;
  };
  const Tally& tally() const { return tally_; }
  std::uint64_t evicted();

 private:
  struct Opened;
  Opened& opened();
  void open_user(Opened& all);
  void open_node(Opened& all);
  void open_read_only(Opened& all, const std::filesystem::path& path, std::set<std::string>& warned);
  template <class Open> auto within_patience(Open open, const std::filesystem::path& folder) const;
  const std::vector<std::shared_ptr<const Layer>>& read_only(Opened& all);

  const LayerSettings settings_;
  Tally tally_;
  std::mutex mutex_;  // of `opened_`
  std::unique_ptr<Opened> opened_;
};

// The folder of this machine's own for this user: tma-jit in $XDG_RUNTIME_DIR, else /dev/shm/tma-jit-<uid>.
[[nodiscard]] std::filesystem::path default_node_folder(const std::filesystem::path& runtime_dir);

}  // namespace tma_jit::cache

// The problem: many processes, on one machine and on several, need the same entry at the same time, and only one should
// compile it, although locks may not work and a network file system may show a new file a minute late. A lookup
// searches the folders from the nearest to the farthest and takes the first sound entry. Read-only layers are opened
// only if no other has the entry, because checking a pack's signature costs more than a warm start. After a miss `turn`
// takes the lock of the key's byte in the nearest folder that is local to the machine. A process that does not get it
// looks for the entry repeatedly until it exists, the lock is free or the time limit is reached. The process that gets
// it looks once more, because the entry may have been added between the miss and the lock. `put` writes the nearest
// folder first and releases the lock, since waiting processes need no more, and then writes the farther folder. If any
// step fails, the process compiles for itself, which costs only time.
#include "cache/layers.h"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include "cache/patient_layer.h"
#include "cache/read_only.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kReportEvery{10'000};
constexpr std::uint64_t kNodeBytes = std::uint64_t{256} << 20;

// Waits 1 to 50 ms, half as long again each time, with random jitter.
class Pause {
 public:
  void sleep() {
    std::this_thread::sleep_for(std::chrono::microseconds(us_ / 2 + numbers_() % us_));
    us_ = std::min(us_ * 3 / 2, 50'000U);
  }

 private:
  unsigned us_ = 1'000;
  std::minstd_rand numbers_{std::random_device()()};
};

}  // namespace

struct Layers::Opened {
  std::shared_ptr<Store> node, user;
  std::shared_ptr<const Layer> user_layer;              // `user`, with a time limit on each access
  std::vector<std::shared_ptr<const Layer>> read_only;  // set by `find_read_only`
  std::once_flag find_read_only;
  std::string why_no_user;

  // Returns the folder for locks: they are relied on only on file systems that no other machine changes.
  const Store* lock_folder() const {
    if (node) return node.get();
    return user && user->local() && user->writable() ? user.get() : nullptr;
  }
};

Layers::Layers(LayerSettings settings) : settings_(std::move(settings)) {
  if (!settings_.remote.address.url.empty()) remote_.emplace(settings_.remote, settings_.warn);
}
Layers::~Layers() = default;

Layers::Opened& Layers::opened() {
  const std::lock_guard lock(mutex_);
  if (!opened_) {
    auto all = std::make_unique<Opened>();
    open_user(*all);
    open_node(*all);
    opened_ = std::move(all);
  }
  return *opened_;
}

// Opens a folder, within the time limit if it may be on a file server that does not answer.
template <class Open> auto Layers::within_patience(Open open, const std::filesystem::path& folder) const {
  using Opening = std::invoke_result_t<Open>;
  if (settings_.store.files->is_local(folder)) return open();
  auto opened = Patience(settings_.patience).within(std::move(open));
  return opened ? *std::move(opened)
                : Opening(failure(ErrorCode::io, "{}", no_answer(folder.string(), settings_.patience)));
}

void Layers::open_user(Opened& all) {
  if (settings_.root.empty()) return;
  auto store = within_patience(
      [root = settings_.root, options = settings_.store] { return Store::open(root, options); }, settings_.root);
  if (store) {
    all.user = std::make_shared<Store>(*std::move(store));
    all.user_layer = patient(all.user, settings_.patience);
  } else {
    all.why_no_user = store.error().message;
    settings_.report(all.why_no_user);
  }
}

// Opens a node-local folder if other machines may change the user's folder: processes of this machine must not exchange
// entries through a network file system, which may show a new file a minute late.
void Layers::open_node(Opened& all) {
  if (settings_.node.empty() && (!all.user || all.user->local())) return;
  StoreOptions options = settings_.store;
  options.shared = false;
  options.limits.bytes = std::min(options.limits.bytes, kNodeBytes);
  const auto folder = settings_.node.empty() ? default_node_folder(settings_.runtime_dir) : settings_.node;
  auto store = within_patience([folder, options] { return Store::open(folder, options); }, folder);
  if (!store) return settings_.report(store.error().message);
  if (store->writable() && store->local()) all.node = std::make_shared<Store>(*std::move(store));
}

// Opens these layers only if those before them lack an entry: checking a signature takes as long as the rest of a warm
// start.
const std::vector<std::shared_ptr<const Layer>>& Layers::read_only(Opened& all) {
  std::call_once(all.find_read_only, [&] {
    std::set<std::string> warned;
    for (const auto& path : settings_.read_only) open_read_only(all, path, warned);
  });
  return all.read_only;
}

// Reports from this thread, because the thread that opens the layer may be given up and outlive this object.
void Layers::open_read_only(Opened& all, const std::filesystem::path& path, std::set<std::string>& warned) {
  struct OpenedLayers {
    std::vector<std::unique_ptr<Layer>> layers;
    std::vector<std::string> reports, warnings;
  };
  const ReadOnlySettings how{settings_.store.files, settings_.pack_keys, settings_.system_keys, {}, {}};
  auto found = within_patience(
      [path, how]() -> Result<OpenedLayers> {
        OpenedLayers made;
        ReadOnlySettings heard = how;
        heard.report = [&](const std::string& what) { made.reports.push_back(what); };
        heard.warn = [&](const std::string& what) { made.warnings.push_back(what); };
        made.layers = cache::open_read_only({path}, heard);
        return made;
      },
      path);
  if (!found) return settings_.report(found.error().message);
  for (auto& layer : found->layers) all.read_only.push_back(patient(std::move(layer), settings_.patience));
  for (const std::string& what : found->reports) settings_.report(what);
  for (const std::string& what : found->warnings) {
    if (warned.insert(what).second) settings_.warn(what);
  }
}

Lookup Layers::get(const Key& key) {
  Opened& all = opened();
  Lookup first{std::nullopt, MissReason::absent, {}, {}};
  const auto asked = [&](const Layer& layer) {
    Lookup found = layer.get(key);
    const bool hit = found.entry.has_value();
    if (hit || first.reason == MissReason::absent) first = std::move(found);
    if (hit) first.from = layer.name();
    return hit;
  };
  if (all.node && asked(*all.node)) {
    ++tally_.node_hits;
    return first;
  }
  if (all.user && asked(*all.user_layer)) return first;
  for (const auto& layer : read_only(all)) {
    if (!asked(*layer)) continue;
    ++tally_.read_only_hits;
    return first;
  }
  return first;
}

// The lock is held until an entry of the server's is in the folders: the other processes of the machine take it there,
// and the server is asked once.
Turn Layers::turn(const Key& key, const std::function<bool(const Entry&)>& is_wanted) {
  Turn turn = local_turn(key, is_wanted);
  if (turn.found || !remote_) return turn;
  const auto lock = std::make_shared<std::optional<Lock>>(std::move(turn.key));
  turn.key.reset();
  turn.found = ask_remote(key, is_wanted, lock);
  if (!turn.found) turn.key = std::move(*lock);
  return turn;
}

std::optional<Entry> Layers::ask_remote(const Key& key, const std::function<bool(const Entry&)>& is_wanted,
                                        std::shared_ptr<const void> held) {
  if (!remote_) return std::nullopt;
  const Opened& all = opened();
  const auto keep = [node = all.node, user = all.user_layer, key](std::span<const std::byte> encoded) {
    if (node) (void)node->put(key, encoded);
    if (user) (void)user->put(key, encoded);
  };
  const auto is_usable = [usable = settings_.is_usable, is_wanted, key](const Entry& entry) {
    return (!usable || usable(key, entry)) && (!is_wanted || is_wanted(entry));
  };
  return remote_->get(key, is_usable, keep, std::move(held));
}

Turn Layers::local_turn(const Key& key, const std::function<bool(const Entry&)>& is_wanted) {
  const auto look = [&] {
    auto entry = get(key).entry;
    return entry && is_wanted && !is_wanted(*entry) ? std::nullopt : std::move(entry);
  };
  Turn turn;
  const Store* place = opened().lock_folder();
  if (place == nullptr) return turn;
  const FileSystem& files = *settings_.store.files;
  Lock lock = place->lock();
  const auto start = Clock::now();
  auto report = start + kReportEvery;
  Pause pause;
  for (bool waited = false; lock.take(files, byte_of(key)) == LockState::busy; waited = true) {
    if (!waited) ++tally_.waits;
    if (turn.found = look(); turn.found) return turn;
    if (Clock::now() - start >= settings_.wait) {
      ++tally_.wait_timeouts;
      return turn;
    }
    if (Clock::now() >= report) {
      const std::string holder = lock.holder(files, key);
      settings_.progress(
          fmt::format("waiting for {} to compile {}", holder.empty() ? "another process" : holder, key.hex()));
      report += kReportEvery;
    }
    pause.sleep();
  }
  if (!lock.held()) {
    ++tally_.lockless;
    return turn;
  }
  turn.key = std::move(lock);
  turn.key->sign(files, key);
  turn.found = look();  // another process may have put it between the miss and the lock
  if (turn.found) turn.key.reset();
  return turn;
}

Result<void> Layers::put(const Key& key, const Entry& entry, Turn& turn) {
  TMA_JIT_ASSIGN(const auto encoded, encode(key, entry));
  Opened& all = opened();
  Result<void> kept = failure(ErrorCode::io, "{}", all.why_no_user.empty() ? "no cache folder" : all.why_no_user);
  if (all.node) kept = all.node->put(key, encoded);
  if (kept) turn.key.reset();
  if (all.user) kept = all.user_layer->put(key, encoded);
  turn.key.reset();
  if (remote_) remote_->upload(key, encoded);
  return kept;
}

std::vector<std::string> Layers::compilers() {
  Opened& all = opened();
  std::vector<std::string> identities;
  const auto add = [&](const Layer& layer) {
    for (std::string& identity : layer.compilers()) {
      if (std::find(identities.begin(), identities.end(), identity) == identities.end())
        identities.push_back(std::move(identity));
    }
  };
  if (all.user) add(*all.user_layer);
  if (all.node) add(*all.node);
  for (const auto& layer : read_only(all)) add(*layer);
  return identities;
}

std::vector<Layers::Records> Layers::records() {
  std::vector<Records> found;
  if (settings_.read_only.empty()) return found;
  for (const auto& layer : read_only(opened())) {
    if (std::string lines = layer->records(); !lines.empty()) found.push_back({layer->name(), std::move(lines)});
  }
  return found;
}

std::vector<std::string> Layers::remote_compilers() {
  return remote_ ? remote_->compilers() : std::vector<std::string>();
}

Nearest Layers::nearest(const Question& question) {
  Opened& all = opened();
  Nearest nearest;
  const auto ask = [&](const Layer& layer) {
    Nearest found = layer.nearest(question);
    for (Near& near : found.entries) near.layer = &layer;
    nearest.entries.insert(nearest.entries.end(), found.entries.begin(), found.entries.end());
    nearest.complete = nearest.complete && found.complete;
  };
  if (all.user) ask(*all.user_layer);
  for (const auto& layer : read_only(all)) ask(*layer);
  keep_nearest(nearest);
  return nearest;
}

void Layers::add_to_index(const Key& key, const Marks& marks) {
  Opened& all = opened();
  if (!all.user) return;
  if (all.user->local()) return all.user->add_to_index(key, marks);
  (void)Patience(settings_.patience).within([user = all.user, key, marks] {
    user->add_to_index(key, marks);
    return true;
  });
}

void Layers::record_compiler(std::string_view identity) {
  Opened& all = opened();
  if (all.node) (void)all.node->record_compiler(identity);
  if (all.user) (void)all.user_layer->record_compiler(identity);
}

Result<void> Layers::writable() {
  Opened& all = opened();
  if (all.user && all.user->writable()) return {};
  if (!all.user) return failure(ErrorCode::io, "{}", all.why_no_user.empty() ? "the cache is off" : all.why_no_user);
  return failure(ErrorCode::io, "{} can be read but not written", all.user->name());
}

std::uint64_t Layers::evicted() {
  const std::lock_guard lock(mutex_);
  if (!opened_) return 0;
  return (opened_->user ? opened_->user->evicted() : 0) + (opened_->node ? opened_->node->evicted() : 0);
}

void Layers::add_remote_stats(CacheStats& stats) {
  if (remote_) remote_->add_to(stats);
}

std::filesystem::path default_node_folder(const std::filesystem::path& runtime) {
  struct stat status {};
  if (runtime.is_absolute() && ::lstat(runtime.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
      status.st_uid == ::geteuid() && (status.st_mode & 077) == 0)
    return runtime / "tma-jit";
  return fmt::format("/dev/shm/tma-jit-{}", ::geteuid());
}

}  // namespace tma_jit::cache

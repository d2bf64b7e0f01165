#include "cache/layers.h"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include "base/failure.h"
#include "cache/read_only.h"

namespace tma_jit::cache {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kReportEvery{10'000};
constexpr std::uint64_t kNodeBytes = std::uint64_t{256} << 20;

// 1 to 50 ms, each time half as long again, and never in step with others.
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
  std::optional<Store> node, user;
  std::vector<std::unique_ptr<Layer>> read_only;  // after `find_read_only`
  std::once_flag find_read_only;
  std::string why_no_user;

  // Locks are trusted on file systems that only this machine changes.
  const Store* lock_folder() const {
    if (node) return &*node;
    return user && user->local() && user->writable() ? &*user : nullptr;
  }
};

Layers::Layers(LayerSettings settings) : settings_(std::move(settings)) {}
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

void Layers::open_user(Opened& all) {
  if (settings_.root.empty()) return;
  auto store = Store::open(settings_.root, settings_.store);
  if (store) {
    all.user = *std::move(store);
  } else {
    all.why_no_user = store.error().message;
    settings_.report(all.why_no_user);
  }
}

// Where the user's folder may be changed by other machines, what these processes hand over must not travel through it:
// a network file system may show a new file a minute late.
void Layers::open_node(Opened& all) {
  if (settings_.node.empty() && (!all.user || all.user->local())) return;
  StoreOptions options = settings_.store;
  options.limits.bytes = std::min(options.limits.bytes, kNodeBytes);
  const auto folder = settings_.node.empty() ? default_node_folder() : settings_.node;
  auto store = Store::open(folder, options);
  if (!store) return settings_.report(store.error().message);
  if (store->writable() && store->local()) all.node = *std::move(store);
}

// Only when the folders before them lack something: checking a signature takes as long as all the rest of a warm start.
const std::vector<std::unique_ptr<Layer>>& Layers::read_only(Opened& all) {
  std::call_once(all.find_read_only, [&] { open_read_only(all); });
  return all.read_only;
}

void Layers::open_read_only(Opened& all) {
  for (const auto& path : settings_.read_only) {
    auto layer = open_read_only_layer(path, {settings_.store.files, settings_.pack_keys});
    if (layer) {
      all.read_only.push_back(*std::move(layer));
    } else {
      settings_.report(layer.error().message);
    }
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
  if (all.user && asked(*all.user)) return first;
  for (const auto& layer : read_only(all)) {
    if (!asked(*layer)) continue;
    ++tally_.read_only_hits;
    return first;
  }
  return first;
}

Turn Layers::turn(const Key& key) {
  Turn turn;
  const Store* place = opened().lock_folder();
  if (place == nullptr) return turn;
  const Files& files = *settings_.store.files;
  Lock lock = place->lock();
  const auto start = Clock::now();
  auto report = start + kReportEvery;
  Pause pause;
  for (bool waited = false; lock.take(files, byte_of(key)) == LockState::busy; waited = true) {
    if (!waited) ++tally_.waits;
    if (Lookup found = get(key); found.entry) {
      turn.found = std::move(found.entry);
      return turn;
    }
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
  turn.found = get(key).entry;  // put after we missed it and before we held the lock
  if (turn.found) turn.key.reset();
  return turn;
}

Result<void> Layers::put(const Key& key, const Entry& entry, Turn& turn) {
  TMA_JIT_ASSIGN(const auto encoded, encode(key, entry));
  Opened& all = opened();
  Result<void> kept = failure(ErrorCode::io, "{}", all.why_no_user.empty() ? "no cache folder" : all.why_no_user);
  if (all.node) kept = all.node->put(key, encoded);
  if (kept) turn.key.reset();
  if (all.user) kept = all.user->put(key, encoded);
  turn.key.reset();
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
  if (all.user) add(*all.user);
  if (all.node) add(*all.node);
  for (const auto& layer : read_only(all)) add(*layer);
  return identities;
}

void Layers::record_compiler(std::string_view identity) {
  Opened& all = opened();
  for (const std::optional<Store>* store : {&all.node, &all.user}) {
    if (*store) (void)(*store)->record_compiler(identity);
  }
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

std::filesystem::path default_node_folder() {
  const char* named = ::secure_getenv("XDG_RUNTIME_DIR");
  const std::filesystem::path runtime(named != nullptr ? named : "");
  struct stat status {};
  if (runtime.is_absolute() && ::lstat(runtime.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
      status.st_uid == ::geteuid() && (status.st_mode & 077) == 0)
    return runtime / "tma-jit";
  return fmt::format("/dev/shm/tma-jit-{}", ::geteuid());
}

}  // namespace tma_jit::cache

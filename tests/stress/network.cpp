// A model of a folder on a network file system, as one of its client machines sees it: names that were missing stay
// missing for a while, files that another machine replaced go stale, locks reach this machine only, replies get lost.
// Threads stand for processes; each machine has a table of its own.
#include <sys/vfs.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "scenario.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

using namespace std::chrono_literals;

constexpr long kNfs = 0x6969;

// As the Linux client does: a lookup that fails is believed for `lookup_cache`; creating or renaming a name here, or
// being told that it exists, ends that.
class NetworkClient final : public cache::FileSystem {
 public:
  NetworkClient(dev_t served, std::chrono::milliseconds lookup_cache) : served_(served), lookup_cache_(lookup_cache) {}

  int open(int folder, const char* path, int flags, mode_t mode) const override {
    if (is_local(folder, path)) return FileSystem::open(folder, path, flags, mode);
    const bool create = (flags & O_CREAT) != 0;
    if (!create && known_missing(path)) return fail(ENOENT);
    const int file = FileSystem::open(folder, path, flags, mode);
    if (file < 0 && errno == ENOENT) remember_missing(path);
    if (file >= 0) forget(path);
    return file;
  }
  int stat_at(int folder, const char* path, struct stat& status) const override {
    if (!is_local(folder, path) && known_missing(path)) return fail(ENOENT);
    return FileSystem::stat_at(folder, path, status);
  }
  ssize_t read(int file, void* bytes, std::size_t size, off_t from) const override {
    struct stat status {};
    if (FileSystem::stat(file, status) == 0 && status.st_dev == served_ && status.st_nlink == 0) return fail(ESTALE);
    return FileSystem::read(file, bytes, size, from);
  }
  int close(int file) const override {
    struct stat status {};
    const bool served = FileSystem::stat(file, status) == 0 && status.st_dev == served_;
    const int closed = FileSystem::close(file);
    return served && S_ISREG(status.st_mode) && sometimes(50) ? fail(EIO) : closed;
  }
  int rename(int folder, const char* from, const char* to) const override {
    if (is_local(folder, from)) return FileSystem::rename(folder, from, to);
    if (sometimes(50)) return fail(EBUSY);
    const int renamed = FileSystem::rename(folder, from, to);
    if (renamed == 0) forget(to);
    return renamed == 0 && sometimes(20) ? fail(ENOENT) : renamed;  // done, and the reply was lost
  }
  int remove(int folder, const char* path) const override {
    const int removed = FileSystem::remove(folder, path);
    return !is_local(folder, path) && sometimes(5) ? fail(EBUSY) : removed;
  }
  int make_folder(int folder, const char* path, mode_t mode) const override {
    forget(path);
    return FileSystem::make_folder(folder, path, mode);
  }
  int set_lock(int file, struct flock& lock) const override {
    struct stat status {};
    if (FileSystem::stat(file, status) == 0 && status.st_dev == served_) ++locks_on_the_server;
    return FileSystem::set_lock(file, lock);
  }
  int file_system(int file, struct statfs& status) const override {
    const int result = FileSystem::file_system(file, status);
    struct stat where {};
    if (FileSystem::stat(file, where) == 0 && where.st_dev == served_) status.f_type = kNfs;
    return result;
  }

  mutable std::atomic<unsigned> locks_on_the_server = 0, believed_missing = 0;

 private:
  static int fail(int error) {
    errno = error;
    return -1;
  }
  static bool sometimes(unsigned one_in) {
    thread_local std::minstd_rand numbers{std::random_device()()};
    return numbers() % one_in == 0;
  }
  bool is_local(int folder, const char* path) const {
    struct stat status {};
    if (folder != AT_FDCWD) return FileSystem::stat(folder, status) != 0 || status.st_dev != served_;
    return std::string_view(path).starts_with("/dev/shm");
  }
  bool known_missing(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const auto found = missing_.find(path);
    if (found == missing_.end()) return false;
    if (found->second < Clock::now()) return missing_.erase(found), false;
    ++believed_missing;
    return true;
  }
  void remember_missing(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    missing_.emplace(path, Clock::now() + lookup_cache_);
  }
  void forget(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    missing_.erase(path);
  }

  const dev_t served_;
  const std::chrono::milliseconds lookup_cache_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Clock::time_point> missing_;
};

struct Node {
  explicit Node(dev_t served, std::chrono::milliseconds lookup_cache)
      : client(served, lookup_cache), local("/dev/shm"), counts(shared_counts()) {}
  NetworkClient client;
  TemporaryFolder local;
  Counts& counts;
};

}  // namespace

void network(const Budget& budget, Report& report) {
  constexpr unsigned kNodes = 2, kProcesses = 12;
  const unsigned keys = budget.pick(40, 60);
  const auto lookup_cache = std::chrono::milliseconds(budget.pick(5'000, 60'000));
  const TemporaryFolder served;
  struct stat status {};
  (void)::stat(served.path().c_str(), &status);
  struct stat memory {};
  if (::stat("/dev/shm", &memory) != 0 || memory.st_dev == status.st_dev)
    return report.skip("/dev/shm is no file system of its own");
  std::vector<std::unique_ptr<Node>> nodes;
  for (unsigned i = 0; i < kNodes; ++i) nodes.push_back(std::make_unique<Node>(status.st_dev, lookup_cache));
  std::atomic<unsigned> exceptions = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kNodes * kProcesses; ++i) {
    threads.emplace_back([&, i] {
      Node& node = *nodes[i % kNodes];
      cache::LayerSettings settings = settings_for(served.path() / "cache", node.counts);
      settings.store.files = &node.client;
      settings.node = node.local.path() / "node";
      try {
        cache::Layers layers(settings);
        for (unsigned pass = 0; pass < 3; ++pass) {
          for (unsigned k = 0; k < keys; ++k) obtain(layers, (k + i * 5) % keys, {.compile_us = 3'000}, node.counts);
        }
      } catch (const std::exception& exception) {
        ++exceptions;
        report.row("{}", exception.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  report.equal(exceptions, 0, "exceptions");
  for (const auto& node : nodes) {
    std::uint32_t most = 0;
    for (unsigned k = 0; k < keys; ++k) most = std::max<std::uint32_t>(most, node->counts.compiles[k]);
    report.row(
        "a machine with {} processes x {} keys: {} compiles, at most {} a key, {} stale lookups, {} failed writes",
        kProcesses, keys, node->counts.total(), most, node->client.believed_missing.load(),
        node->counts.put_failures.load());
    report.expect(most <= 1, "a key compiled twice on one machine");
    report.equal(node->counts.wrong, 0, "wrong results");
    report.equal(node->client.locks_on_the_server, 0, "locks taken on the network");
    report.expect(node->client.believed_missing > 0, "the model never answered late, so nothing was tested");
  }
}

}  // namespace tma_jit::stress

// Processes that are killed: at random under load, and after every single system call.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <random>
#include <thread>

#include <tma_jit/cache.h>

#include "base/descriptor.h"
#include "cache/folder.h"
#include "cache/sweep.h"
#include "scenario.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kProcesses = 32, kKeys = 100;
// A lock that its process did not free is waited for to the limit, 120 s; one that is free takes as long as the
// machine's other work lets it.
constexpr std::uint64_t kWaitMaxUs = 30'000'000;

pid_t start(const std::filesystem::path& root, unsigned seed, Counts& counts) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  cache::Layers layers(settings_for(root, counts));
  std::minstd_rand numbers{seed};
  for (;;) {
    obtain(layers, static_cast<unsigned>(numbers() % kKeys), {.compile_us = 10'000}, counts);
    std::this_thread::sleep_for(1ms);
  }
}

void stop(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

std::uint64_t faulty_entries(const std::filesystem::path& root) {
  std::uint64_t faulty = 0;
  const std::vector<CacheEntryInfo> entries = cache_verify(root).value();
  for (const CacheEntryInfo& entry : entries) faulty += entry.fault.empty() ? 0 : 1;
  return faulty;
}

// The number of a dead writer may be another process's by now: nobody writes any more, so all of them must go.
std::uint64_t temporaries_after_a_sweep(const std::filesystem::path& root) {
  const Descriptor folder(::open(cache::format_folder(root).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  (void)cache::sweep_all({cache::FileSystem::system(), folder.get(), std::time(nullptr)},
                         {.dead_writer_s = 0, .unknown_writer_s = 0});
  return cache_stat(root).value().temporary_files;
}

// After the storm: all is there or compiled once more, and nothing is left lying about.
void check_aftermath(const std::filesystem::path& root, Report& report) {
  report.equal(faulty_entries(root), 0, "faulty entries on disk");
  Counts& after = shared_counts();
  for (unsigned pass = 0; pass < 2; ++pass) {
    cache::Layers layers(settings_for(root, after));
    for (unsigned number = 0; number < kKeys; ++number) obtain(layers, number, {.compile_us = 0}, after);
  }
  report.expect(after.total() <= kKeys, "a second clean pass compiled again");
  report.equal(after.wrong + after.unsound + after.put_failures, 0, "wrong results after the storm");
  report.expect(after.longest_wait_us < kWaitMaxUs, "a lock of a dead process was waited for");
  report.equal(temporaries_after_a_sweep(root), 0, "temporary files after a sweep");
}

// Ends the process after the n-th call that it makes through the table.
class DyingFileSystem final : public cache::FileSystem {
 public:
  explicit DyingFileSystem(unsigned last) : left_(static_cast<int>(last)) {}
  int open(int folder, const char* path, int flags, mode_t mode) const override {
    return after(FileSystem::open(folder, path, flags, mode));
  }
  int stat(int file, struct stat& status) const override { return after(FileSystem::stat(file, status)); }
  ssize_t write(int file, const void* bytes, std::size_t size, off_t to) const override {
    return after(FileSystem::write(file, bytes, size, to));
  }
  int set_mode(int file, mode_t mode) const override { return after(FileSystem::set_mode(file, mode)); }
  int flush(int file) const override { return after(FileSystem::flush(file)); }
  int close(int file) const override { return after(FileSystem::close(file)); }
  int rename(int folder, const char* from, const char* to) const override {
    return after(FileSystem::rename(folder, from, to));
  }
  int set_lock(int file, struct flock& lock) const override { return after(FileSystem::set_lock(file, lock)); }

 private:
  template <class T> T after(T result) const {
    if (--left_ == 0) ::kill(::getpid(), SIGKILL);
    return result;
  }
  mutable int left_;
};

// Kills a process after each of its calls, in a folder that exists or that it makes. Returns the number of calls.
unsigned kill_after_each_call(bool made_before, Report& report) {
  for (unsigned point = 1;; ++point) {
    const TemporaryFolder folder;
    const auto root = folder.path() / "cache";
    if (made_before) (void)cache::Store::open(root);
    Counts& counts = shared_counts();
    const DyingFileSystem dying(point);
    const int status = in_child([&] {
      cache::LayerSettings settings = settings_for(root, counts);
      settings.store.files = &dying;
      cache::Layers layers(settings);
      obtain(layers, 1, {.compile_us = 0}, counts);
      return 0;
    });
    const std::string where = fmt::format("after call {}{}", point, made_before ? "" : " in a new folder");
    const auto summary = cache_stat(root).value();
    report.expect(summary.temporary_files <= 1, fmt::format("{} temporary files {}", summary.temporary_files, where));
    report.equal(faulty_entries(root), 0, fmt::format("faulty entries {}", where));
    Counts& next = shared_counts();
    cache::Layers layers(settings_for(root, next));
    obtain(layers, 1, {.compile_us = 0}, next);
    obtain(layers, 1, {.compile_us = 0}, next);
    report.expect(next.wrong == 0 && next.unsound == 0 && next.put_failures == 0 && next.hits >= 1,
                  fmt::format("the next process {}", where));
    report.expect(next.longest_wait_us < kWaitMaxUs, fmt::format("the lock was not free {}", where));
    report.equal(temporaries_after_a_sweep(root), 0, fmt::format("temporary files after a sweep {}", where));
    report.expect(std::filesystem::exists(root / "CACHEDIR.TAG"), fmt::format("no CACHEDIR.TAG {}", where));
    if (status == 0) return point - 1;
  }
}

}  // namespace

void kill(const Budget& budget, Report& report) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "cache";
  Counts& counts = shared_counts();
  const double seconds = budget.seconds > 0 ? budget.seconds : budget.pick(15, 600);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < kProcesses; ++i) children.push_back(start(root, i + 1, counts));
  std::minstd_rand numbers{7};
  std::uint64_t kills = 0;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    std::this_thread::sleep_for(5ms);
    const std::size_t victim = numbers() % kProcesses;
    stop(children[victim]);
    children[victim] = start(root, static_cast<unsigned>(numbers()), counts);
    // What eviction would do, so that there is always something to compile.
    ::unlink(cache::entry_path(root, cache::sample_key(static_cast<unsigned>(numbers() % kKeys))).c_str());
    ++kills;
  }
  for (const pid_t child : children) stop(child);
  report.row(
      "{} processes x {} keys, {:.0f} s: {} kills, {} hits, {} compiles, {} corrupt, {} wrong, longest wait {} ms",
      kProcesses, kKeys, seconds, kills, counts.hits.load(), counts.total(), counts.unsound.load(), counts.wrong.load(),
      counts.longest_wait_us / 1000);
  report.equal(counts.unsound, 0, "corrupt reads");
  report.equal(counts.wrong, 0, "wrong results");
  report.equal(counts.put_failures, 0, "failed writes");
  report.expect(counts.longest_wait_us < kWaitMaxUs, "a wait of more than 30 s");
  report.expect(counts.hits > kills, "too few hits for the test to mean anything");
  check_aftermath(root, report);
}

void kill_points(const Budget& budget, Report& report) {
  const unsigned repeats = budget.pick(2, 100);
  unsigned calls = 0, calls_new = 0;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    calls = kill_after_each_call(true, report);
    calls_new = kill_after_each_call(false, report);
  }
  report.row("killed after each of {} calls, and of {} in a new folder, {} times: no damage, every lock free at once",
             calls, calls_new, repeats);
  report.expect(calls >= 10 && calls_new > calls, "too few points");
}

}  // namespace tma_jit::stress

// Every system call of the cache failed in turn, with every error, once and from then on.
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>

#include <tma_jit/cache.h>

#include "base/file.h"
#include "cache/folder.h"
#include "scenario.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

constexpr int kErrors[] = {ENOSPC, EDQUOT, EIO,          ESTALE,     EROFS,  EACCES, EPERM,  EMFILE,
                           ENFILE, EINTR,  ENOENT,       EEXIST,     ELOOP,  ENOLCK, ENOSYS, EBUSY,
                           EXDEV,  ENOMEM, ENAMETOOLONG, EOPNOTSUPP, EAGAIN, ENODEV};

// Fails call number `first`, and with `lasting` all after it. A call that writes may also put half of what it was
// given.
class FailingFileSystem final : public cache::FileSystem {
 public:
  FailingFileSystem(unsigned first, int error, bool lasting) : first_(first), error_(error), lasting_(lasting) {}

  int open(int folder, const char* path, int flags, mode_t mode) const override {
    return fails() ? -1 : FileSystem::open(folder, path, flags, mode);
  }
  int close(int file) const override {
    const bool failed = fails();
    const int result = FileSystem::close(file);
    return failed ? fail() : result;
  }
  int stat(int file, struct stat& status) const override { return fails() ? -1 : FileSystem::stat(file, status); }
  int stat_at(int folder, const char* path, struct stat& status) const override {
    return fails() ? -1 : FileSystem::stat_at(folder, path, status);
  }
  ssize_t read(int file, void* bytes, std::size_t size, off_t from) const override {
    return fails() ? -1 : FileSystem::read(file, bytes, size, from);
  }
  ssize_t write(int file, const void* bytes, std::size_t size, off_t to) const override {
    return fails() ? -1 : FileSystem::write(file, bytes, calls_ % 2 == 0 && size > 1 ? size / 2 : size, to);
  }
  int set_mode(int file, mode_t mode) const override { return fails() ? -1 : FileSystem::set_mode(file, mode); }
  int flush(int file) const override { return fails() ? -1 : FileSystem::flush(file); }
  int touch(int file) const override { return fails() ? -1 : FileSystem::touch(file); }
  int set_time(int folder, const char* path, std::time_t modified) const override {
    return fails() ? -1 : FileSystem::set_time(folder, path, modified);
  }
  int rename(int folder, const char* from, const char* to) const override {
    return fails() ? -1 : FileSystem::rename(folder, from, to);
  }
  int remove(int folder, const char* path) const override { return fails() ? -1 : FileSystem::remove(folder, path); }
  int remove_folder(int folder, const char* path) const override {
    return fails() ? -1 : FileSystem::remove_folder(folder, path);
  }
  int make_folder(int folder, const char* path, mode_t mode) const override {
    return fails() ? -1 : FileSystem::make_folder(folder, path, mode);
  }
  int set_lock(int file, struct flock& lock) const override { return fails() ? -1 : FileSystem::set_lock(file, lock); }
  int file_system(int file, struct statfs& status) const override {
    return fails() ? -1 : FileSystem::file_system(file, status);
  }

  bool reached() const { return calls_ >= first_; }

 private:
  int fail() const {
    errno = error_;
    return -1;
  }
  bool fails() const {
    const unsigned call = ++calls_;
    if (call != first_ && !(lasting_ && call > first_)) return false;
    fail();
    return true;
  }

  const unsigned first_;
  const int error_;
  const bool lasting_;
  mutable unsigned calls_ = 0;
};

struct Case {
  unsigned call;
  int error;
  bool lasting, fresh;
};

// One process's life: a miss, a compile, a hit; then the same without faults. False once no call is left to fail.
bool run_case(const Case& the_case, const std::filesystem::path& root, Report& report) {
  static Counts& counts = shared_counts();
  const std::string name = fmt::format("call {} {} {}{}", the_case.call, strerrorname_np(the_case.error),
                                       the_case.lasting ? "lasting" : "once", the_case.fresh ? ", new folder" : "");
  const FailingFileSystem failing(the_case.call, the_case.error, the_case.lasting);
  const std::uint64_t wrong = counts.wrong, compiled = counts.total();
  std::set<std::string> reports;
  {
    cache::LayerSettings settings = settings_for(root, counts);
    settings.store.files = &failing;
    settings.wait = std::chrono::milliseconds(20);  // a lock that always answers EAGAIN
    settings.report = [&](const std::string& what) { reports.insert(what); };
    cache::Layers layers(settings);
    for (unsigned i = 0; i < 2; ++i) obtain(layers, 1, {.compile_us = 0, .bytes = 900, .noise = true}, counts);
  }
  report.equal(counts.wrong, wrong, name + ": wrong results");
  report.expect(counts.total() - compiled <= 2, name + ": compiled more than once a call");
  report.expect(reports.size() <= 1, name + ": more than one report");
  // What it left behind must not disturb the next.
  const std::uint64_t failures = counts.put_failures;
  cache::Layers next(settings_for(root, counts));
  for (unsigned i = 0; i < 2; ++i) obtain(next, 1, {.compile_us = 0, .bytes = 900, .noise = true}, counts);
  report.equal(counts.wrong, wrong, name + ": wrong results afterwards");
  report.equal(counts.put_failures, failures, name + ": writes that failed afterwards");
  return failing.reached();
}

}  // namespace

void faults(const Budget& budget, Report& report) {
  std::uint64_t cases = 0;
  for (const bool lasting : {false, true}) {
    const TemporaryFolder folder("/dev/shm");
    const auto root = folder.path() / "cache";
    { const auto made = cache::Store::open(root); }
    for (const int error : kErrors) {
      for (unsigned call = 1, more = 1; more != 0 && call <= 200; ++call, ++cases) {
        std::filesystem::remove(cache::entry_path(root, cache::sample_key(1)));
        more = run_case({call, error, lasting, false}, root, report) ? 1 : 0;
      }
    }
  }
  report.row("{} cases: each call of a miss, a compile and a hit failed with each of {} errors", cases,
             std::size(kErrors));
  report.expect(cases > std::size(kErrors) * 2 * 20, "too few calls for the test to mean anything");
  cases = 0;
  for (const int error : {ENOSPC, EIO}) {
    for (unsigned call = 1, more = 1; more != 0 && call <= 300;
         call += budget.pick(call > 12 && call < 250 ? 40 : 1, 1)) {
      const TemporaryFolder folder("/dev/shm");
      for (const bool lasting : {false, true}) {
        more = run_case({call, error, lasting, true}, folder.path() / (lasting ? "a" : "b"), report) ? 1 : 0;
        ++cases;
      }
    }
  }
  report.row("{} cases: calls that make a new folder failed", cases);
}

// Damage in every entry of a store, met by several processes.
void rot(const Budget& budget, Report& report) {
  const unsigned keys = budget.pick(300, 5'000), processes = 8;
  const TemporaryFolder folder;
  const auto root = folder.path() / "cache";
  const Work work{.compile_us = 0, .bytes = 1'000, .noise = true};
  Counts& first = shared_counts();
  cache::Layers writer(settings_for(root, first));
  for (unsigned number = 0; number < keys; ++number) obtain(writer, number, work, first);
  for (unsigned number = 0; number < keys; ++number) {
    const auto path = cache::entry_path(root, cache::sample_key(number));
    std::string bytes = read_file(path).value();
    char& damaged = bytes[(number * 7919U) % bytes.size()];
    damaged = static_cast<char>(damaged ^ (1 << (number % 8)));
    report.expect(write_file(path, bytes).has_value(), "cannot damage an entry");
  }
  Counts& counts = shared_counts();
  const unsigned bad = run_together(processes, counts, [&](unsigned) {
    cache::Layers layers(settings_for(root, counts));
    for (unsigned number = 0; number < keys; ++number) obtain(layers, number, work, counts);
  });
  report.row("{} entries with a flipped bit, {} processes: {} misses as damaged, {} compiles, {} wrong", keys,
             processes, counts.unsound.load(), counts.total(), counts.wrong.load());
  report.equal(bad + counts.wrong, 0, "wrong results and failed processes");
  report.equal(counts.not_once(keys), 0, "entries not healed by exactly one compile");
  Counts& after = shared_counts();
  cache::Layers reader(settings_for(root, after));
  for (unsigned number = 0; number < keys; ++number) obtain(reader, number, work, after);
  report.equal(after.hits, keys, "hits after healing");
}

}  // namespace tma_jit::stress
